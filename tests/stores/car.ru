PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
INSERT DATA { GRAPH <urn:mine> {
  <urn:x:hasPart> rdfs:range <urn:x:Part> ; rdfs:label "has part"@en .
  <urn:x:car> rdfs:label "red car"@en ; <urn:x:hasPart> <urn:x:wheel> . <urn:x:wheel> rdfs:label "wheel"@en .
} }
