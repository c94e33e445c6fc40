"""The parts of a generated file that do not depend on the program; ``@NAME@`` is what is put in."""

from __future__ import annotations

OWNERSHIP = (
    "This file is your own: kinetree claims no right in what it generates, and no licence of kinetree applies to it. "
    "Use, change and distribute it as you like. It comes without any warranty."
)

PRELUDE = """\
#include <float.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "compile it without -ffast-math: sine and cosine need arithmetic as it is written"
#endif
#if FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#error "compile it for arithmetic in its own type: for old x86 with -msse2 -mfpmath=sse"
#endif

/* Products and sums are fused where the program says so, and nowhere else. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off", "no-tree-slp-vectorize")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

/* Whether fma() is one instruction. Else products and sums are rounded separately; -DKT_FMA=1 calls libm's instead. */
#if defined(KT_FMA)
#define KT_DOUBLE_FMA KT_FMA
#elif defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__) || defined(_M_ARM64) || \\
    (defined(_MSC_VER) && defined(__AVX2__)) || (defined(__ARM_FEATURE_FMA) && (__ARM_FP & 8)) || \\
    (defined(__riscv_flen) && __riscv_flen >= 64) || defined(__powerpc64__) || defined(__s390x__)
#define KT_DOUBLE_FMA 1
#else
#define KT_DOUBLE_FMA 0
#endif
#ifndef KT_FMA
@FMA@
#endif
#ifdef __has_builtin
#define KT_HAS_BUILTIN(name) __has_builtin(name)
#else
#define KT_HAS_BUILTIN(name) 0
#endif
#if KT_HAS_BUILTIN(__builtin_elementwise_fma) /* the instruction also where fma() might set errno */
#define kt_fma_double __builtin_elementwise_fma
#define kt_fma_float __builtin_elementwise_fma
#elif defined(__GNUC__) /* also with -ffreestanding */
#define kt_fma_double __builtin_fma
#define kt_fma_float __builtin_fmaf
#else
double fma(double, double, double);
float fmaf(float, float, float);
#define kt_fma_double fma
#define kt_fma_float fmaf
#endif

#ifndef KT_THREAD_LOCAL
#define KT_THREAD_LOCAL
#endif

#ifndef KT_LANES
typedef @ITEM@ kt_value;
#define KT_COUNT 1
#define KT_C(x) (x)
#else
#define KT_COUNT KT_LANES
#define KT_VECTOR_BYTES (KT_LANES * @BYTES@)
typedef @ITEM@ kt_value __attribute__((vector_size(KT_VECTOR_BYTES)));
typedef @INTEGER@ kt_mask __attribute__((vector_size(KT_VECTOR_BYTES)));
#define KT_C(x) ((x) - (kt_value){0})
#endif
#if defined(__FMA__) && defined(__GNUC__)
#include <immintrin.h>
#endif
"""

FMA_OF = {
    "float64": "#define KT_FMA KT_DOUBLE_FMA",
    "float32": """\
#if KT_DOUBLE_FMA || defined(__FP_FAST_FMAF) || (defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4))
#define KT_FMA 1
#else
#define KT_FMA 0
#endif""",
}

ENTRY = """\
#ifndef KT_LANES

@PROTOTYPE@;

@PROTOTYPE@
{
    @PROGRAM@(@NAMES@);
    return 0;
}

#else

@BATCH@;

@BATCH@
{
@STORAGE@    for (size_t kt_first = 0; kt_first < kt_n; kt_first += KT_LANES) {
        for (size_t kt_lane = 0; kt_lane < KT_LANES; kt_lane++) {
            const size_t kt_row = kt_first + kt_lane < kt_n ? kt_first + kt_lane : kt_n - 1;
@LOADS@            (void)kt_row;
        }
        @PROGRAM@(@LANES@);
        for (size_t kt_lane = 0; kt_lane < KT_LANES && kt_first + kt_lane < kt_n; kt_lane++) {
@STORES@        }
    }
    return 0;
}

#endif
"""

LOAD = """\
            for (size_t kt_i = 0; kt_i < @SIZE@; kt_i++)
                kt_@NAME@[kt_i][kt_lane] = @NAME@[kt_row * @SIZE@ + kt_i];
"""

STORE = """\
            for (size_t kt_i = 0; kt_i < @SIZE@; kt_i++)
                @NAME@[(kt_first + kt_lane) * @SIZE@ + kt_i] = kt_@NAME@[kt_i][kt_lane];
"""

MAIN = """\

#ifndef KT_LANES

#include <stdio.h>

/* Read states from standard input, the numbers of all inputs in turn, and print the results of each. */
static size_t kt_read(@ITEM@ *x, size_t n)
{
    size_t i = 0;
    while (i < n && scanf("%@SCAN@", &x[i]) == 1)
        i++;
    return i;
}

static void kt_print(const char *name, const @ITEM@ *x, size_t n)
{
    printf("%s", name);
    for (size_t i = 0; i < n; i++)
        printf(" %.@DIGITS@g", (double)x[i]);
    printf("\\n");
}

int main(void)
{
    static @ITEM@ kt_in[@INPUTS@ + 1], kt_out[@OUTPUTS@ + 1];
    size_t kt_found;
    while ((kt_found = kt_read(kt_in, @INPUTS@)) == @INPUTS@) {
        @FUNCTION@(@ARGUMENTS@);
@PRINTS@        if (@INPUTS@ == 0)
            return 0;
    }
    if (kt_found == 0 && feof(stdin))
        return 0;
    fprintf(stderr, "@FUNCTION@: a state has @INPUTS@ numbers, only %lu could be read\\n", (unsigned long)kt_found);
    return 1;
}

#endif
"""

HEADER = """\
#ifndef @GUARD@
#define @GUARD@

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

@PROTOTYPE@;

/* The same for kt_n states, one after another in each array: the source compiled once more, with -DKT_LANES=8. */
@BATCH@;

#ifdef __cplusplus
}
#endif

#endif
"""


def filled(template: str, **values: object) -> str:
    """Return the template with these values put in."""
    for name, value in values.items():
        template = template.replace(f"@{name}@", str(value))
    return template
