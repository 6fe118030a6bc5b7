package cli

import (
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
)

// formatOf is the format of all inputs, and of the documents that are written.
func formatOf(fields jsonl.Fields) corpus.Format { return jsonl.Format{Fields: fields} }
