"""Names for the array types that run through the package."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Int64Array: TypeAlias = NDArray[np.int64]
Int8Array: TypeAlias = NDArray[np.int8]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

Side: TypeAlias = Literal["white", "black"]
ObservationKind: TypeAlias = Literal["planes", "tokens"]
