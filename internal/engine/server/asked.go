package server

import (
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// overview lists the requests.
//
//go:embed overview.txt
var overview string

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
