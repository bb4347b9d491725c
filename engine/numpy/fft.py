"""``mindspore.numpy.fft``: the transforms of ``ops`` with NumPy's names of arguments."""

from .. import ops as _ops
from ..core.surfaces import alias as _alias
from ..core.surfaces import renamed as _renamed

_ALONG_ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_ALONG_SEVERAL = tuple(f"{name}{which}" for which in ("2", "n") for name in _ALONG_ONE_AXIS)

fftfreq, rfftfreq = _ops.fftfreq, _ops.rfftfreq
for _name in _ALONG_ONE_AXIS:
    globals()[_name] = _alias(getattr(_ops, _name), _renamed(_name, input="a", dim="axis"))
for _name in _ALONG_SEVERAL:
    globals()[_name] = _alias(getattr(_ops, _name), _renamed(_name, input="a", dim="axes"))
for _name in ("fftshift", "ifftshift"):
    globals()[_name] = _alias(getattr(_ops, _name), _renamed(_name, input="x", dim="axes"))
