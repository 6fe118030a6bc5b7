package server

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const overview = `firstseen finds duplicate texts, and names the document that was first. This server answers

  POST /v1/see                  decides documents, such as lines of JSON with id and text
  GET /v1/documents?id=ID       shows the kept documents of an id, as does /v1/documents/ID
  DELETE /v1/documents?id=ID    forgets them
  POST /v1/batches/NAME/cancel  forgets a batch
  GET /v1/verdicts/OFFSET       shows the verdict about a record of the log
  GET /v1/stats                 shows the sizes of the index
  GET /v1/recent                counts the last hour, and names the last removals
  POST /v1/explain?id=ID        shows a text beside the earlier document that it copies
  GET /v1/check                 reads the whole index, and finds damage
  GET /v1/snapshot              copies the index while it serves, as a tar archive
  GET /v1/entries/POSITION      sends a standby what is decided, as it is decided
  POST /v1/promote              lets a standby decide, since its primary is gone for good
  GET /metrics                  has counters for Prometheus
  GET /                         is a page for browsers
  GET /livez                    tells whether the index works
  GET /readyz                   tells whether to send documents

firstseen serve --help, docs/manual.md and server/openapi.yaml say more.
`

// elsewhere refuses requests for other paths, or with other methods, and shows the right ones.
func elsewhere(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
			other := *r
			other.Method = method
			if _, pattern := mux.Handler(&other); pattern != "/" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			http.Error(w, "nothing is at this path\n\n"+overview, http.StatusNotFound)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		http.Error(w, "this path takes only "+strings.Join(allowed, ", ")+"\n\n"+overview, http.StatusMethodNotAllowed)
	}
}

// checkQuery refuses a query that would be misread: a document would be remembered instead of
// checked, or get no batch.
func checkQuery(raw string, known []string) error {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return refuse(http.StatusBadRequest, "the query %q: want NAME=VALUE with special characters escaped as %%XX", raw)
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		flag := name != "id" && name != "batch"
		switch value := q[name]; {
		case !slices.Contains(known, name):
			return refuse(http.StatusBadRequest, "the query has the name %q, and this request knows only %q: leave it out", name, known)
		case len(value) > 1:
			return refuse(http.StatusBadRequest, "the query has %s twice: give it once", name)
		case flag && value[0] != "0" && value[0] != "1":
			return refuse(http.StatusBadRequest, "the query has %s=%q: want %[1]s=1 or %[1]s=0", name, value[0])
		}
	}
	if q.Get("report") == "1" && q.Get("check") != "1" {
		return refuse(http.StatusBadRequest, "report=1 needs check=1: a document that is remembered gets no report")
	}
	return nil
}
