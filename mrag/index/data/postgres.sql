-- The statements of mrag/index/backends/postgres.py: {documents} and {terms} are the tables of an index.

-- name: make
-- The tables of an index, or of the registry.
CREATE TABLE IF NOT EXISTS {documents} (
  number int4 NOT NULL, id text COLLATE "C" NOT NULL, text text NOT NULL, digest bytea NOT NULL, vector vector
);
CREATE TABLE IF NOT EXISTS {terms} (
  term text COLLATE "C" NOT NULL, document int4 NOT NULL, times int4 NOT NULL, length int4 NOT NULL
)

-- name: key
-- Made once all documents are there, which takes less time than to keep them meanwhile.
ALTER TABLE {documents} ADD PRIMARY KEY (number);
CREATE UNIQUE INDEX ON {documents} (id);
ALTER TABLE {terms} ADD PRIMARY KEY (term, document) INCLUDE (times, length)

-- name: index_vectors
-- Built with twice the candidates that are usual, it finds .975 of the nearest ten among a million.
CREATE INDEX ON {documents} USING hnsw (vector vector_ip_ops) WITH (m = 16, ef_construction = 128)

-- name: words
-- The sums of `Bm25Index`, rounded where that rounds.
WITH asked AS (
  SELECT a.term, a.times, count(*) AS documents
  FROM unnest(%(terms)s::text[], %(times)s::int4[]) AS a(term, times) JOIN {terms} t ON t.term = a.term
  GROUP BY a.term, a.times
), weighed AS MATERIALIZED (
  SELECT term, times, ln(1 + (%(documents)s::float8 - documents + 0.5) / (documents + 0.5)) AS idf FROM asked
), scored AS (
  SELECT t.document, sum(w.times * (
    round(w.idf * t.times / (t.times + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8
      * (t.length / %(mean)s::float8))) * 1099511627776::float8) / 1099511627776::float8
  )::float4::float8)::float4 AS score
  FROM weighed w JOIN {terms} t ON t.term = w.term
  WHERE %(all)s OR t.document IN (SELECT number FROM {documents} WHERE id = ANY(%(allowed)s::text[]))
  GROUP BY t.document
  ORDER BY score DESC FETCH FIRST %(k)s ROWS WITH TIES
)
SELECT d.id, s.score FROM scored s JOIN {documents} d ON d.number = s.document
ORDER BY s.score DESC, d.id LIMIT %(k)s

-- name: near
-- By the index of the vectors.
SELECT id, score FROM (
  SELECT id, (-(vector <#> %(vector)s::vector))::float4 AS score FROM {documents}
  ORDER BY vector <#> %(vector)s::vector LIMIT %(wide)s
) AS near ORDER BY score DESC, id LIMIT %(k)s

-- name: nearest
-- The same without the index: pgvector's takes a filter into account after it has searched.
SELECT id, (-(vector <#> %(vector)s::vector))::float4 AS score FROM {documents}
WHERE %(all)s OR id = ANY(%(allowed)s::text[]) ORDER BY score DESC, id LIMIT %(k)s

-- name: places
SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(false))
AND tablename LIKE 'mrag\_%' AND tablename NOT LIKE '%\_terms'

-- name: uncount
DELETE FROM {terms} t USING unnest(%s::text[], %s::int4[]) AS gone(term, document)
WHERE t.term = gone.term AND t.document = gone.document

-- name: lock
SELECT pg_try_advisory_lock(hashtextextended(%s, 0))

-- name: delete
DELETE FROM {documents} WHERE id = ANY(%s::text[]) RETURNING number, text

-- name: highest
SELECT coalesce(max(number), 0) FROM {documents}

-- name: tune
-- In memory an index of vectors takes a fraction of the time; the setting is a cap. pgvector indexes up to 2,000 dimensions.
SELECT set_config('maintenance_work_mem', least(2048, 64 + count(*) * (4 * max(vector_dims(vector)) + 400) / 1048576) || 'MB', true),
  set_config('max_parallel_maintenance_workers', current_setting('max_parallel_workers'), true),
  max(vector_dims(vector)) <= 2000
FROM {documents}

-- name: size
ALTER TABLE {documents} ALTER COLUMN vector TYPE vector(%d)

-- name: indexed
SELECT 1 FROM pg_index WHERE indrelid = to_regclass(%s)

-- name: rows
FROM {documents} WHERE %(all)s OR id = ANY(%(allowed)s::text[])

-- name: reader
SELECT set_config('hnsw.ef_search', %s, false)

-- name: alone
SELECT pg_advisory_xact_lock(hashtextextended('mrag_registry', 0))
