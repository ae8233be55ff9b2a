"""What is there on day one: ready ops, each with several kernels that differ in kind.

Every op here has the vendor's or NumPy's own way, a Numba kernel and C kernels with real tunables; its gate is one the
vendors' own kernels pass, and its shapes are ones public models run.
"""

from assay.zoo.gemm import gemm
from assay.zoo.softmax import softmax

__all__ = ["gemm", "softmax"]
