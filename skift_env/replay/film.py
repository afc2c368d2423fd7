"""Games as moving pictures: animated GIF with Pillow, MP4 with FFmpeg."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from skift_env.drawing import Orientation
from skift_env.render import import_extra, rgb_array
from skift_env.replay.camera import last_actions, steady_views

if TYPE_CHECKING:
    from skift_env.records import Game

COLOURS: Final = 96
"""Of a GIF: enough for the board's colours and the blends between them."""
LAST_SECONDS: Final = 3.0
"""How long the final position stays at least."""
MOST_SECONDS: Final = 60.0


def frames(
    game: Game, *, size: int = 480, orientation: Orientation = "white", theme: str = "light"
) -> Iterator[NDArray[np.uint8]]:
    """A picture of each position, (round(size * 9 / 8), size, 3) uint8, from a camera at rest.

    Raises:
        ValueError: for a wrong size, orientation or theme.
        gymnasium.error.DependencyNotInstalled: where pygame-ce is missing.
    """
    players = game.tags.get("White", "White"), game.tags.get("Black", "Black")
    views = steady_views(game, turned=orientation == "black")
    plies = zip(game.positions(), last_actions(game), views, strict=True)
    for ply, (position, last, view) in enumerate(plies):
        stopped = ply == len(game.actions) and position.outcome is None
        yield rgb_array(
            position,
            size=size,
            last_action=last,
            players=players,
            note=f"{game.result}, {game.termination}" if stopped else None,
            orientation=orientation,
            theme=theme,
            view=view,
        )


def write_gif(
    path: str | PathLike[str], game: Game, *, seconds: float = 0.9, **options: Any
) -> None:
    """Write a game as an animated GIF that repeats, `seconds` a ply; `options` as for `frames`.

    Raises:
        ValueError: if `seconds` is not in 0 … 60, and for wrong options.
        OSError: if the file cannot be written.
        gymnasium.error.DependencyNotInstalled: where pygame-ce or Pillow is missing.
    """
    _check(seconds)
    pillow = import_extra("PIL.Image", "Pillow", "render")
    pictures = [pillow.fromarray(frame) for frame in frames(game, **options)]
    # One palette for all, from the first, middle and last picture side by side: then what stays
    # the same from frame to frame has the same bytes, and takes no space.
    chosen = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    sample = pillow.fromarray(np.concatenate([np.asarray(picture) for picture in chosen]))
    palette = sample.quantize(COLOURS, method=pillow.Quantize.MEDIANCUT)
    first, *rest = (
        picture.quantize(palette=palette, dither=pillow.Dither.NONE) for picture in pictures
    )
    times = [round(1000 * seconds)] * len(pictures)
    times[-1] = round(1000 * max(seconds, LAST_SECONDS))
    first.save(
        path, format="GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True
    )


def write_mp4(
    path: str | PathLike[str], game: Game, *, seconds: float = 0.9, **options: Any
) -> None:
    """Write a game as an MP4 film (H.264), `seconds` a ply; `options` as for `frames`.

    H.264 wants even sizes: an odd line or column of pixels is left out.

    Raises:
        ValueError: if `seconds` is not in 0 … 60, and for wrong options.
        OSError: if FFmpeg cannot write the file.
        gymnasium.error.DependencyNotInstalled: where pygame-ce or imageio-ffmpeg is missing.
    """
    _check(seconds)
    ffmpeg = import_extra("imageio_ffmpeg", "imageio-ffmpeg", "video")
    pictures = list(frames(game, **options))
    height, width = (pixels // 2 * 2 for pixels in pictures[0].shape[:2])
    pictures += pictures[-1:] * max(0, round(LAST_SECONDS / seconds) - 1)
    # macro_block_size 2: no scaling. yuv420p and faststart: what browsers and phones play.
    film = ffmpeg.write_frames(
        str(path), (width, height), fps=1 / seconds, codec="libx264", macro_block_size=2,
        pix_fmt_out="yuv420p", output_params=["-movflags", "+faststart", "-r", "30"],
    )  # fmt: skip
    film.send(None)
    for picture in pictures:
        film.send(np.ascontiguousarray(picture[:height, :width]))
    film.close()


def _check(seconds: float) -> None:
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"seconds must be more than 0 and at most {MOST_SECONDS}, not {seconds!r}")
