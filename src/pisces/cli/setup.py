"""`pisces setup`: make what Pisces needs and the machine does not have."""

import click


@click.group(short_help="Set up what Pisces needs.")
def setup() -> None:
    """Set up what Pisces needs."""


@setup.command(short_help="Make a Python environment for kernels.")
@click.option("--python", "base", metavar="PYTHON", help="The Python to make it from, if not the one that runs Pisces.")
@click.option(
    "--packages",
    metavar="NAMES",
    multiple=True,
    default=("ipython",),
    help='What to install, as one text ("ipython numpy") or by repeating the option; "" for nothing. Default: ipython.',
)
def python(base: str | None, packages: tuple[str, ...]) -> int:
    """Make the virtual environment that Pisces uses where a project has none: ~/.pisces/python-env.

    It is made whole or made again: one that was interrupted is never used. Run it again at any time to add packages.

    \b
      pisces setup python
      pisces setup python --packages "ipython numpy pandas"
      pisces setup python --python /usr/bin/python3.12
    """
    import anyio

    from pisces.cli.setup_python import set_up_python

    names = [name for text in packages for name in text.split()]
    return anyio.run(set_up_python, base, names)
