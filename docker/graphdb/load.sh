#!/bin/sh
# Makes the repository and its similarity index where they are missing, and loads the demo graph.
# Safe to run again: data is replaced, and an index that is there is built anew.
set -eu

server="${GRAPHDB_URL:-http://graphdb:7200}"
repository="$server/repositories/products"
file="${DATA_FOLDER:-/data}/products.ttl"
query="${QUERY_FOLDER:-/sparql}/index/texts.rq"
here="$(cd "$(dirname "$0")" && pwd)"
context="%3Chttps%3A%2F%2Fw3id.org%2Fmrag%2Fdemo%2Fproducts%3E"

request() {
  curl --fail-with-body --silent --show-error "$@"
}

if request "$server/rest/repositories" | grep -q '"id" *: *"products"'; then
  echo "The repository products is there."
else
  request --output /dev/null --form "config=@$here/config.ttl;type=text/turtle" "$server/rest/repositories"
  echo "The repository products is made."
fi

request --output /dev/null --request PUT --header "Content-Type: text/turtle; charset=utf-8" \
  --data-binary "@$file" "$repository/statements?context=$context"
echo "The demo graph is loaded."

# What the index is made of is the catalogue's query, put into the description as a JSON string.
QUERY="$(sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g' "$query" | awk '{ printf "%s\\n", $0 }')"
export QUERY
if request --header "X-GraphDB-Repository: products" "$server/rest/similarity" | grep -q '"name" *: *"main"'; then
  # As mrag does: an index that was rebuilt in place has been seen to hang.
  request --output /dev/null --request DELETE --header "X-GraphDB-Repository: products" "$server/rest/similarity?name=main"
fi
awk '/"selectQuery"/ { print "  \"selectQuery\": \"" ENVIRON["QUERY"] "\","; next } { print }' "$here/similarity.json" |
  request --output /dev/null --request POST --header "X-GraphDB-Repository: products" \
    --header "Content-Type: application/json" --data-binary @- "$server/rest/similarity"
echo "The similarity index main is being built; the workbench shows when it is done."
