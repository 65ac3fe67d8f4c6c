"""The files of tests that take most of the processor or of waiting, in about that order.

Workers begin with them; a file that is not here follows by how many tests it has. Where slow tests run alone,
other files take longest.
"""

from __future__ import annotations

LONGEST = tuple(
    """
     conformance/test_stores docs/test_docs server/test_w3c test_star_wars server/test_remote
     server/page/test_access docker/test_servers clients/test_page_types test_audit
     terminal/test_commands server/test_headers completion/test_metaqa test_cli server/test_attacks
     stores/test_limits server/page/test_learn test_package server/test_load server/test_clients
     stores/test_engines test_mcp planning/test_plans generation/test_ollama injection/test_local_model
     server/test_serving server/test_update server/page/test_page docs/test_site context/test_remote
     storage/test_killed graphcodes/test_index completion/test_writeback clients/test_graphdb_driver
     generative/test_gguf server/page/test_images stores/test_jena planning/test_neural
     stores/test_virtuoso ontology/test_products docs/test_notebook_stores reasoning/test_closure
     planning/test_saved jobs/test_ray images/test_interrupted planning/test_questions
     stores/test_graphdb test_views cel/test_learners generative/test_index stores/test_rights
     index/test_backends stores/test_secrets reasoning/test_owl_cases test_kg terminal/test_processes
     generation/test_local planning/test_loosening test_crash index/test_document_index
     server/test_crash cel/test_learn_cli server/test_start stores/test_oxigraph server/page/test_query
     evaluation/test_questions cel/test_keep planning/test_follow_ups evaluation/test_answers
     server/test_api test_queries injection/test_tools clients/test_comunica test_as_they_come
     completion/test_command stores/test_sandbox test_retriever completion/test_plan
     server/page/test_receipts cel/test_owlready
     loaders/test_encodings loaders/test_marks evaluation/test_cranfield clients/test_yasgui
     cel/test_explain cel/test_time_limits cel/test_evolearner graphcodes/test_extract_model
     images/test_enrich planning/test_lexicon generative/test_clues_command cel/test_crash
     server/page/test_images_api clients/test_page_languages reasoning/test_edits
     generation/test_properties completion/test_reading rdf/test_gate_fuzz index/test_dense
     test_interrupted storage/test_damage test_query_comfort
    """.split()
)

LONGEST_SLOW = tuple(
    """
     jobs/test_ray conformance/test_stores docs/test_docs test_star_wars terminal/test_commands
     server/test_remote server/page/test_access clients/test_page_types stores/test_limits
     completion/test_metaqa planning/test_plans server/test_headers docs/test_site stores/test_jena
     server/test_attacks docker/test_servers server/test_load ontology/test_products
     injection/test_local_model generation/test_ollama server/test_serving server/test_w3c
     stores/test_secrets storage/test_killed stores/test_virtuoso server/page/test_learn
     generative/test_gguf planning/test_neural stores/test_engines test_package stores/test_graphdb
     images/test_interrupted docs/test_notebook_stores reasoning/test_owl_cases test_kg
     server/page/test_page clients/test_graphdb_driver clients/test_comunica graphcodes/test_index
     context/test_remote server/page/test_query cel/test_learners server/test_crash
     terminal/test_processes test_views server/page/test_images cel/test_learn_cli test_crash
     test_as_they_come server/page/test_languages test_audit stores/test_rights cel/test_time_limits
     server/test_start evaluation/test_eval_cli generation/test_local stores/test_found_data
     reasoning/test_edits server/page/test_health reasoning/test_closure evaluation/test_questions
     index/test_backends evaluation/test_cranfield graphcodes/test_extract_model cel/test_owlready
     planning/test_following_changes completion/test_writeback cel/test_crash
     completion/test_command test_retriever test_mcp generative/test_clues_command completion/test_plan
     server/page/test_hostile reasoning/test_sameness evaluation/test_crash
     server/page/test_review test_foreign_rankers cel/test_keep generative/test_index
     widgets/test_widgets completion/test_servers server/page/test_receipts cel/test_mofn
     server/test_metrics index/test_document_index images/test_pictures cel/test_servers
    """.split()
)
