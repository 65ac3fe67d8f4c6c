#!/bin/sh
# Loads the demo graph into both datasets by the graph store protocol; safe to run again.
set -eu

server="${FUSEKI_URL:-http://fuseki:3030}"
file="${DATA_FOLDER:-/data}/products.ttl"
graph="https%3A%2F%2Fw3id.org%2Fmrag%2Fdemo%2Fproducts"

subject="https://w3id.org/mrag/demo/products#GraphDB"

request() {
  curl --fail-with-body --silent --show-error "$@"
}

send() {
  request --output /dev/null --request "$1" --header "Content-Type: text/turtle; charset=utf-8" \
    --data-binary "@$file" "$2"
}

send PUT "$server/products/data?graph=$graph"
echo "The demo graph is loaded into products."

# The reasoner sees the unnamed graph alone, and what it infers cannot be replaced.
if request --header "Accept: application/sparql-results+json" --data-urlencode "query=ASK { <$subject> a ?class }" \
  "$server/products-owl/query" | grep -q '"boolean" *: *true'; then
  echo "The demo graph is in products-owl."
else
  send POST "$server/products-owl/data?default"
  echo "The demo graph is loaded into products-owl."
fi
