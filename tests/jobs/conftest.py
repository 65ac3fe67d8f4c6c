from tests.images.conftest import photos, seeing

__all__ = ["photos", "seeing"]
