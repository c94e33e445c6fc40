/* A computed-torque controller at 1 kHz on a Cortex-M7, around controller.c, which make_controller.py writes.
 *
 * The timer SysTick calls it a thousand times a second. What belongs to a board (its clock, encoders and drives) is in
 * the three functions that are declared extern. */
#include "controller.h"

#include <stdint.h>

#define JOINTS 7
#define RATE 1000u

extern uint32_t board_clock_hz(void);
extern void board_read_joints(float q[JOINTS], float v[JOINTS]);
extern void board_write_torques(const float tau[JOINTS]);

/* registers of every Cortex-M: the timer, the access to the floating-point unit */
#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)
#define CPACR (*(volatile uint32_t *)0xE000ED88u)

static const float kp[1] = {100.0f}, kd[1] = {20.0f}; /* 1/s^2, 1/s: critically damped */
static const float limit[JOINTS] = {87.0f, 87.0f, 87.0f, 87.0f, 12.0f, 12.0f, 12.0f}; /* N m */

static float q[JOINTS], v[JOINTS], tau[JOINTS];
static float q_des[JOINTS] = {0.0f, 0.3f, 0.0f, -1.5f, 0.0f, 1.8f, 0.8f}, v_des[JOINTS], a_des[JOINTS];

void SysTick_Handler(void);

void SysTick_Handler(void)
{
    board_read_joints(q, v);
    (void)controller(q, v, q_des, v_des, a_des, kp, kd, tau);
    for (int i = 0; i < JOINTS; i++) {
        if (!(tau[i] <= limit[i])) /* NaN as well */
            tau[i] = limit[i];
        if (tau[i] < -limit[i])
            tau[i] = -limit[i];
    }
    board_write_torques(tau);
}

int main(void)
{
    CPACR |= 0xFu << 20;
    SYST_RVR = board_clock_hz() / RATE - 1u;
    SYST_CVR = 0u;
    SYST_CSR = 7u; /* the processor's clock, an interrupt at zero, go */
    for (;;)
        __asm__ volatile("wfi");
}
