"""The files of tests that take most of the processor or of waiting, in about that order.

Workers begin with them; a file that is not here follows by how many tests it has.
"""

from __future__ import annotations

LONGEST = tuple(
    """
    conformance/test_stores completion/test_incomplete server/test_attacks docs/test_docs server/test_remote
    test_star_wars terminal/test_commands server/test_load server/page/test_page server/test_serving
    completion/test_crash index/test_index_crash server/test_crash planning/test_plans server/test_update
    server/page/test_images cel/test_drill stores/test_limits server/test_headers docs/test_site
    server/test_clients test_mcp completion/test_metaqa jobs/test_ray test_package storage/test_killed
    images/test_interrupted test_crash_data test_crash_views evaluation/test_crash cel/test_crash
    test_interrupted evaluation/test_cranfield generation/test_ollama stores/test_jena stores/test_engines
    test_cli server/page/test_learn completion/test_servers completion/test_rollback images/test_servers
    cel/test_keep_servers cel/test_hermit graphcodes/test_index generation/test_local
    generative/test_clues_command injection/test_local_model reasoning/test_closure
    docs/test_notebook_stores stores/test_virtuoso clients/test_graphdb_driver clients/test_comunica
    clients/test_yasgui generative/test_gguf ontology/test_products planning/test_neural test_views
    planning/test_saved planning/test_questions terminal/test_processes test_kg server/page/test_query
    stores/test_rights server/test_start server/page/test_receipts stores/test_secrets cel/test_whynot
    context/test_remote reasoning/test_owl_cases index/test_backends evaluation/test_questions
    cel/test_learn_cli server/test_w3c stores/test_oxigraph rdf/test_gate_fuzz server/test_api
    evaluation/test_answers test_as_they_come test_retriever cel/test_learners images/test_attacks
    cel/test_time_limits stores/test_graphdb generative/test_index graphcodes/test_storage
    stores/test_sandbox planning/test_loosening completion/test_command
    """.split()
)
