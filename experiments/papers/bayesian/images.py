"""Depth images with a label for every pixel: files that numpy alone can read and write.

A pair is two files in a folder, ``NAME.depth.npy`` and ``NAME.parts.npy``, or the same with ``.pgm``, the plain gray
image of 8 or 16 bits. Depths are whole millimetres, parts are numbers from 0, the background.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

BACKGROUND = 0
_DEPTH, _PARTS = ".depth", ".parts"
_SUFFIXES = (".npy", ".pgm")
# Magic, width, height and largest value, with comments between them, and one blank before the numbers.
_BLANK = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(rb"P5" + (_BLANK + rb"(\d+)") * 3 + rb"\s")


class DepthImage(NamedTuple):
    """Millimetres to what each pixel shows, 0 where nothing is known, and which part that is."""

    depth: NDArray[np.uint16]
    parts: NDArray[np.uint8]


def read_images(folder: str | Path) -> list[DepthImage]:
    """Return the images of a folder, in the order of their names.

    Parameters
    ----------
    folder
        It holds a file of depths and one of parts for each.

    Examples
    --------
    >>> import tempfile
    >>> image = DepthImage(np.full((2, 3), 2500, np.uint16), np.eye(2, 3, dtype=np.uint8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_image(image, folder, "first", "pgm")
    ...     (found,) = read_images(folder)
    >>> found.depth.tolist(), found.parts.tolist()
    ([[2500, 2500, 2500], [2500, 2500, 2500]], [[1, 0, 0], [0, 1, 0]])
    """
    paths = sorted(path for path in Path(folder).iterdir() if path.suffix in _SUFFIXES and path.stem.endswith(_DEPTH))
    if not paths:
        raise ValueError(f"there is no depth image in {folder}; their names end in .depth.npy or .depth.pgm.")
    return [_read_pair(path) for path in paths]


def write_image(image: DepthImage, folder: str | Path, name: str, form: Literal["npy", "pgm"] = "npy") -> None:
    """Write the two files of an image.

    Parameters
    ----------
    image
        Which.
    folder
        Where; it is made if it is not there.
    name
        Begins the names of the files.
    form
        ``"npy"`` or ``"pgm"``.

    Examples
    --------
    >>> import tempfile
    >>> image = DepthImage(np.ones((2, 3), np.uint16), np.ones((2, 3), np.uint8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_image(image, folder, "first")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['first.depth.npy', 'first.parts.npy']
    """
    if f".{form}" not in _SUFFIXES:
        raise ValueError(f"form must be 'npy' or 'pgm', not {form!r}.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for numbers, kind in ((image.depth.astype(np.uint16), _DEPTH), (image.parts.astype(np.uint8), _PARTS)):
        path = Path(folder, f"{name}{kind}.{form}")
        if form == "npy":
            np.save(path, numbers)
        else:
            path.write_bytes(encode_gray(numbers))


def encode_gray(numbers: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    r"""Return a gray image as the bytes of a PGM file, in 8 or 16 bits as its numbers are.

    Parameters
    ----------
    numbers
        Rows of pixels.

    Examples
    --------
    >>> encode_gray(np.array([[1, 258]], np.uint16))
    b'P5\n2 1\n65535\n\x00\x01\x01\x02'
    """
    height, width = numbers.shape
    wide = numbers.dtype.itemsize == 2
    head = f"P5\n{width} {height}\n{65535 if wide else 255}\n".encode()
    return head + numbers.astype(">u2" if wide else "u1").tobytes()


def decode_gray(data: bytes, name: str) -> NDArray[np.uint16]:
    r"""Return the pixels of a PGM file of 8 or 16 bits.

    Parameters
    ----------
    data
        Its bytes.
    name
        Of the file, for errors.

    Examples
    --------
    >>> decode_gray(b"P5 # two pixels\n2 1 255\n" + bytes([7, 9]), "a.pgm")
    array([[7, 9]], dtype=uint16)
    >>> decode_gray(b"P2 2 1 255 7 9", "a.pgm")
    Traceback (most recent call last):
        ...
    ValueError: a.pgm is no binary gray image (PGM, P5); write it anew in that form, or as .npy.
    """
    head = _HEADER.match(data)
    if head is None:
        raise ValueError(f"{name} is no binary gray image (PGM, P5); write it anew in that form, or as .npy.")
    width, height, largest = map(int, head.groups())
    dtype = np.dtype(">u2" if largest > 255 else "u1")
    if len(data) - head.end() < width * height * dtype.itemsize:
        raise ValueError(f"{name} ends before its {width} x {height} pixels; write it anew.")
    return np.frombuffer(data, dtype, width * height, head.end()).reshape(height, width).astype(np.uint16)


def _read_pair(path: Path) -> DepthImage:
    name = path.stem.removesuffix(_DEPTH)
    beside = [path.with_name(f"{name}{_PARTS}{suffix}") for suffix in _SUFFIXES]
    labels = next((one for one in beside if one.exists()), None)
    if labels is None:
        raise ValueError(f"{path} has no labels; put {beside[0].name} or {beside[1].name} beside it.")
    depth, parts = _read_numbers(path, 65535), _read_numbers(labels, 255)
    if depth.shape != parts.shape:
        raise ValueError(f"{path} has {depth.shape} pixels and {labels.name} {parts.shape}; they must be the same.")
    return DepthImage(depth.astype(np.uint16), parts.astype(np.uint8))


def _read_numbers(path: Path, most: int) -> NDArray[np.int64]:
    """Return the pixels of a file, all of them whole numbers from 0 to the most that is allowed."""
    numbers = decode_gray(path.read_bytes(), str(path)) if path.suffix == ".pgm" else np.load(path)
    if numbers.ndim != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(f"{path} must hold rows of whole numbers, not {numbers.dtype} of shape {numbers.shape}.")
    if numbers.size and not 0 <= numbers.min() <= numbers.max() <= most:
        raise ValueError(f"{path} holds {numbers.min()} .. {numbers.max()}; allowed are 0 .. {most}.")
    return numbers.astype(np.int64)
