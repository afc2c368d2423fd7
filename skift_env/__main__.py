"""`python -m skift_env` is `skift`."""

from skift_env.cli import main

if __name__ == "__main__":
    main()
