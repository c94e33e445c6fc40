"""SDFormat: models with their links, joints and frames, as Gazebo and Drake write them."""
