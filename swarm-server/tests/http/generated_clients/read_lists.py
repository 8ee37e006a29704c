"""Reads every list with pages to its end, through a client of openapi-generator.

Arguments: the address of the server and the token of an operator. Prints the number of items of each operation as JSON.
"""

import inspect
import json
import pkgutil
import sys
from importlib import import_module

import openapi_client
import openapi_client.api

ADDRESS, OPERATOR = sys.argv[1:]
CONFIGURATION = openapi_client.Configuration(host=ADDRESS, api_key={"operator": OPERATOR})
# The client writes offsets without a colon unless it is told another format (RFC 3339, section 5.6).
CONFIGURATION.datetime_format = "%Y-%m-%dT%H:%M:%S.%fZ"
# The session whose takes are read.
SESSION = 1


def lists(client):
    """The operations of the API that have pages, by name. Where there is a page too, the client reads HTML."""
    for module in pkgutil.iter_modules(openapi_client.api.__path__):
        if module.name == "pages_api":
            continue
        of_module = vars(import_module(f"openapi_client.api.{module.name}"))
        its_name = module.name.replace("_", "")
        api = next(it for name, it in of_module.items() if name.lower() == its_name)
        for name, operation in inspect.getmembers(api(client), inspect.ismethod):
            is_read = name.startswith("get_")
            is_plain = not name.endswith(("_with_http_info", "_without_preload_content"))
            if is_read and is_plain and "limit" in inspect.signature(operation).parameters:
                yield name, operation


def read(operation):
    """The number of items of a list, a hundred a page."""
    parameters = inspect.signature(operation).parameters
    arguments = {"limit": 100} | ({"id": SESSION} if "id" in parameters else {})
    position = "before" if "before" in parameters else "after"
    count = 0
    while True:
        page = json.loads(operation(**arguments).to_json())
        items = [items for items in page.values() if isinstance(items, list)]
        # The webhooks come before their deliveries.
        count += len(items[-1])
        following = page.get("nextBefore") or page.get("nextAfter")
        if page.get("more"):
            following = page["next"]
        if not following:
            return count
        arguments[position] = following


with openapi_client.ApiClient(CONFIGURATION) as client:
    print(json.dumps({name: read(operation) for name, operation in lists(client)}))
