"""Images: pages of the graph's pictures, their facets, thumbnails, one with its boxes, and searches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import ConfigError
from mrag.server.web.validation import MAX_IRI, check_names, guarded, int_value, iri_value, reply
from mrag.server.web.views.images.reading import SHORTLY, ImagesReading
from mrag.server.web.views.images.searching import ImageSearches
from mrag.server.web.views.images.thumbnails import Thumbnails
from mrag.server.web.views.view import PageView

if TYPE_CHECKING:
    from mrag.context.display import Display
    from mrag.images.catalogue import Chosen, FacetName, ImageCatalogue
    from mrag.images.graph import ImagePart
    from mrag.server.web.routes import Api

PAGE = 200
"""Number of images of a page."""

FILTERS = ("category", "attribute", "class")
_VALUES = 400
_READERS = 6
_FILTERS = 10
_CLASSES = 50
_WAIT = 60
_FEW = 5_000
"""Images that are read before a request gets impatient."""
_NONE: dict[str, list[object]] = {"category": [], "attribute": [], "class": []}
_UPLOAD = 16 << 20
"""Maximum number of bytes of a body with a picture, where the settings allow more."""


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes below `/api/images`."""
    view = ImagesView(api)
    works = {"": view.gallery, "/page": view.page, "/one": view.one}
    found: list[BaseRoute] = [
        Route(f"/api/images{name}", api.on_thread(work, view.slots), methods=["GET"])
        for name, work in works.items()
    ]
    token = api.settings.token
    found.append(Route("/api/images/thumbnail", guarded(view.thumbnail, token), methods=["GET"]))
    found.append(Route("/api/images/search", guarded(view.search, token), methods=["POST"]))
    return found


class ImagesView(PageView):
    """Answers the requests of the view Images.

    Args:
        api: The API that these requests belong to.
    """

    most = _UPLOAD

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.thumbnails = Thumbnails(self.kg, api.media)
        self.reading = ImagesReading(self.kg)
        self.searches = ImageSearches(self.kg, api.media, api.choice)
        self.slots = api.slots(_READERS, "requests for images")

    def gallery(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return how many images there are, the IRI before each page of them, and the facets with counts.

        Where all images must be read from the graph first, that begins; `reading` says so, and until it is
        done there are the first of them, and no facets. With `wait` it is waited for.
        """
        check_names(values, "wait", *FILTERS)
        seconds = int_value(values, "wait", 0, 0, _WAIT)
        kept, first, number = self.reading.kept, dict[str, str](), 0
        if kept.current() is None and kept.known is None:
            # Before all are read, which would slow it down.
            first, number = kept.page("", PAGE)
        known, current = self.reading.now(seconds or (SHORTLY if number <= _FEW else 0))
        about = {
            "page": PAGE,
            "media": self.api.media is not None,
            "pictures": self.searches.without_pictures(),
            "reading": not current,
        }
        if known is None:
            return {**about, "images": number, "total": len(first), "before": [""], "facets": _NONE}
        chosen = self._chosen(values, known)
        iris = known.iris(chosen)
        return {
            **about,
            "images": len(known.images),
            "total": len(iris),
            "before": ["", *(iris[at - 1] for at in range(PAGE, len(iris), PAGE))],
            "facets": self._facets(values, known, chosen),
        }

    def page(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the images that follow an IRI in order, a page of them."""
        from mrag.server.web.events import ranked

        check_names(values, "after", *FILTERS)
        after = values.get("after", "")
        if len(after) > MAX_IRI:
            raise ConfigError(f"after has at most {MAX_IRI} characters.")
        known, _ = self.reading.now(None if any(values.get(name) for name in FILTERS) else 0)
        if known is None:
            files, _ = self.reading.kept.page(after, PAGE)
            return ranked(self.kg, self.shown(files))
        iris = known.iris(self._chosen(values, known))
        begin = bisect_right(iris, after)
        return ranked(self.kg, self.shown({iri: known.files[iri] for iri in iris[begin : begin + PAGE]}))

    def shown(self, files: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return images, given with their files, as a gallery shows them."""
        from mrag.images.graph import names_of

        names, there = names_of(self.kg, files, files), self.thumbnails.files(list(files))
        return [
            {"iri": iri, "label": names[iri], "file": file, "there": iri in there}
            for iri, file in files.items()
        ]

    def one(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return an image: its triples, and what is annotated in it, each with its boxes and triples."""
        from mrag.context.display import Display
        from mrag.images.graph import parts_of
        from mrag.server.web.neighbourhood import triples

        check_names(values, "iri")
        name, file = self._image(values)
        display = Display(self.kg)
        _, out = triples(self.kg, name, "out", display)
        (image,) = self.shown({name: file})
        known, _ = self.reading.now(0)
        iris = known.images if known is not None else ()
        at = bisect_right(iris, name)
        return {
            **image,
            "out": out,
            "size": self.thumbnails.size(name),
            "parts": [self._part(part, display) for part in parts_of(self.kg, name)],
            "before": iris[at - 2] if at > 1 else None,
            "after": iris[at] if at < len(iris) else None,
        }

    async def thumbnail(self, request: Request) -> Response:
        """Serve an image file made small, from below the media folder."""

        def find() -> tuple[bytes, str] | None:
            values = dict(request.query_params)
            check_names(values, "iri", "side")
            return self.thumbnails.of(self._image(values)[0], int_value(values, "side", 240, 32, 1_600))

        found = await self.api.run(self.slots, find)
        if found is None:
            raise HTTPException(404, "The file of this image is not in the media folder.")
        headers = {
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'",
            "Cache-Control": "private, max-age=300",
        }
        return Response(found[0], media_type=found[1], headers=headers)

    async def search(self, request: Request) -> Response:
        """Find images by words, by a picture, by both, or by what is annotated in a part of an image."""
        values = await self.body(request, "q", "k", "picture", "region", *FILTERS)

        def work() -> dict[str, Any]:
            from mrag.server.web.events import ranked

            k = int_value(values, "k", 60, 1, 200)
            known = self.reading.whole()
            found = self.searches.find(values, known, self._chosen(values, known), k)
            shown = {
                one["iri"]: one for one in self.shown({hit.iri: known.files[hit.iri] for hit in found.hits})
            }
            hits = [
                {**shown[hit.iri], "score": hit.score, "reasons": list(hit.reasons)} for hit in found.hits
            ]
            return {"hits": ranked(self.kg, hits), "what": found.what}

        return reply(await self.api.run(self.slots, work))

    # -- shared ------------------------------------------------------------------------------------

    def _image(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """Return the IRI of an image and the name of its file."""
        from mrag.images.graph import file_names

        name = str(iri_value(values, "iri", self.kg.prefixes))
        file = file_names(self.kg, images=[name]).get(name)
        if file is None:
            raise HTTPException(404, "The graph names no file for this image.")
        return name, file

    def _part(self, part: ImagePart, display: Display) -> dict[str, Any]:
        from mrag.server.web.neighbourhood import triples

        _, out = triples(self.kg, part.iri, "out", display)
        features = part.features
        return {
            "iri": part.iri,
            "label": ", ".join(sorted(display.entity(c) for c in features.categories))
            or display.entity(part.iri),
            "attributes": sorted(display.entity(a) for a in features.attributes),
            "boxes": [[box.x, box.y, box.w, box.h] for box in part.boxes],
            "masks": part.masks,
            "out": out,
        }

    def _wanted(self, values: Mapping[str, Any], name: str) -> list[str]:
        """Return the IRIs of a filter, which stand side by side with blanks between them."""
        given = values.get(name, "")
        if not isinstance(given, str) or len(given) > _FILTERS * MAX_IRI:
            raise ConfigError(f"{name} must be IRIs with blanks between them.")
        if len(words := given.split()) > _FILTERS:
            raise ConfigError(f"{name} has at most {_FILTERS} IRIs.")
        return [str(iri_value({name: word}, name, self.kg.prefixes)) for word in words]

    def _chosen(self, values: Mapping[str, Any], known: ImageCatalogue) -> Chosen:
        from mrag.images.catalogue import FACETS

        wanted: dict[FacetName, list[str]] = {name: self._wanted(values, name) for name in FACETS}
        return known.chosen(wanted, [self._members(c, known) for c in self._wanted(values, "class")])

    def _members(self, name: str, known: ImageCatalogue) -> Chosen:
        from mrag.images.graph import of_class

        # What is inferred may have changed where the catalogue has not.
        key = f"{self.kg.revision} {self.kg.record.inferred} {name}"
        if (found := known.known_set(key)) is None:
            found = known.inside(of_class(self.kg, name)())
            known.note_set(key, found)
        return found

    def _facets(
        self, values: Mapping[str, str], known: ImageCatalogue, chosen: Chosen
    ) -> dict[str, list[dict[str, Any]]]:
        from mrag.cel.concepts import list_concepts
        from mrag.context.display import Display
        from mrag.images.catalogue import FACETS

        display = Display(self.kg)
        found: dict[str, list[dict[str, Any]]] = {}
        for name in FACETS:
            counts = known.counts(name, chosen)
            counts |= {one: 0 for one in self._wanted(values, name) if one not in counts}
            shown = list(counts.items())[:_VALUES]
            display.prepare([iri for iri, _ in shown])
            found[name] = [{"iri": iri, "label": display.entity(iri), "count": n} for iri, n in shown]
        found["class"] = []
        kept = {one.iri: one.label for one in list_concepts(self.kg)[:_CLASSES]}
        for iri in dict.fromkeys([*kept, *self._wanted(values, "class")]):
            count = int((chosen & self._members(iri, known)).sum())
            found["class"].append({"iri": iri, "label": kept.get(iri) or display.entity(iri), "count": count})
        return found
