"""The environment's module in PettingZoo's form: `from skift_env import skift_v0`."""

from skift_env.pettingzoo_env import env, raw_env

__all__ = ["env", "raw_env"]
