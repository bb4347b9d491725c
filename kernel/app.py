"""Start of the kernel under IPython's own application, so that every IPython setting works as usual."""

from ipykernel.kernelapp import IPKernelApp

from .kernel import HookscopeKernel


def main() -> None:
    """Run the kernel until it is shut down."""
    IPKernelApp.launch_instance(kernel_class=HookscopeKernel)
