"""``mindspore.numpy.fft``: the Fourier transforms of ``ops`` with NumPy's names of arguments."""

from ... import ops
from ...base.surfaces import alias, renamed

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

fft = alias(ops.fft, renamed("fft", input="a", dim="axis"))
fft2 = alias(ops.fft2, renamed("fft2", input="a", dim="axes"))
fftfreq = ops.fftfreq
fftn = alias(ops.fftn, renamed("fftn", input="a", dim="axes"))
fftshift = alias(ops.fftshift, renamed("fftshift", input="x", dim="axes"))
hfft = alias(ops.hfft, renamed("hfft", input="a", dim="axis"))
hfft2 = alias(ops.hfft2, renamed("hfft2", input="a", dim="axes"))
hfftn = alias(ops.hfftn, renamed("hfftn", input="a", dim="axes"))
ifft = alias(ops.ifft, renamed("ifft", input="a", dim="axis"))
ifft2 = alias(ops.ifft2, renamed("ifft2", input="a", dim="axes"))
ifftn = alias(ops.ifftn, renamed("ifftn", input="a", dim="axes"))
ifftshift = alias(ops.ifftshift, renamed("ifftshift", input="x", dim="axes"))
ihfft = alias(ops.ihfft, renamed("ihfft", input="a", dim="axis"))
ihfft2 = alias(ops.ihfft2, renamed("ihfft2", input="a", dim="axes"))
ihfftn = alias(ops.ihfftn, renamed("ihfftn", input="a", dim="axes"))
irfft = alias(ops.irfft, renamed("irfft", input="a", dim="axis"))
irfft2 = alias(ops.irfft2, renamed("irfft2", input="a", dim="axes"))
irfftn = alias(ops.irfftn, renamed("irfftn", input="a", dim="axes"))
rfft = alias(ops.rfft, renamed("rfft", input="a", dim="axis"))
rfft2 = alias(ops.rfft2, renamed("rfft2", input="a", dim="axes"))
rfftfreq = ops.rfftfreq
rfftn = alias(ops.rfftn, renamed("rfftn", input="a", dim="axes"))
