package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTableHasTheFields checks that a field added to reports is a column, or named as left out.
func TestTableHasTheFields(t *testing.T) {
	names := func(of reflect.Type) (names []string) {
		for _, f := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names = append(names, name)
			}
		}
		return names
	}
	columns := names(reflect.TypeFor[tabled]())
	// Reports with spans, passages, a fate or a shard are refused as a table.
	left := strings.Fields("distance confirm new spans passages covered left fields shard")
	left = append(left, names(reflect.TypeFor[Fate]())...)
	all := names(reflect.TypeFor[Reported]())
	for _, name := range all {
		if slices.Contains(columns, name) == slices.Contains(left, name) {
			t.Errorf("%s is a column %t, left out %t", name, slices.Contains(columns, name), slices.Contains(left, name))
		}
	}
	for _, name := range columns {
		if !slices.Contains(all, name) {
			t.Errorf("the column %s is no field of a report", name)
		}
	}
}
