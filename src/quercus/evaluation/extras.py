"""The libraries that draw, of the extra `report`; imported by what draws, and by that alone on first use."""

try:
    import altair as alt
    import jinja2
    import vl_convert
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "charts and reports need altair, vl-convert-python and jinja2; pip install 'quercus[report]'.", name=error.name
    ) from error

__all__ = ["alt", "jinja2", "vl_convert"]
