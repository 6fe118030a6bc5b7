package server

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestOpenAPI checks that openapi.yaml describes the routes of the server, and no others.
func TestOpenAPI(t *testing.T) {
	page, err := os.ReadFile("openapi.yaml")
	indextest.Must(t, err)
	var described []string
	path := ""
	for line := range strings.Lines(string(page)) {
		if m := regexp.MustCompile(`^  (/\S*):\n`).FindStringSubmatch(line); m != nil {
			path = m[1]
		}
		if m := regexp.MustCompile(`^    (get|post|put|delete|patch):\n`).FindStringSubmatch(line); m != nil {
			described = append(described, strings.ToUpper(m[1])+" "+path)
		}
	}
	routes := slices.Sorted(maps.Keys((&Service{}).routes("")))
	for i := range routes {
		routes[i] = strings.TrimSuffix(routes[i], "{$}")
		method, path, _ := strings.Cut(strings.NewReplacer("{id}", "ID", "{name}", "NAME", "{offset}", "OFFSET", "{position}", "POSITION").Replace(routes[i]), " ")
		shown := method == "DELETE" && strings.Contains(path, "ID") || path == "/" || strings.Contains(overview, path)
		if !shown {
			t.Errorf("the overview at / lacks %s %s", method, path)
		}
	}
	slices.Sort(routes)
	if diff := cmp.Diff(routes, slices.Sorted(slices.Values(described))); diff != "" {
		t.Error(diff)
	}
}
