"""Starts the kernel under IPython's own application, so that every IPython setting works as ever."""

from ipykernel.kernelapp import IPKernelApp

from .kernel import HookscopeKernel


def main() -> None:
    """Run until told to stop."""
    IPKernelApp.launch_instance(kernel_class=HookscopeKernel)
