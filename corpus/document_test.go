package corpus

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestPlace(t *testing.T) {
	places := []Place{{}, {0, 1}, {0, 17}, {3, 0}, {3, 2}, {1 << 40, 1}}
	written := []string{"0", "1", "17", "[3,0]", "[3,2]", "[1099511627776,1]"}
	said := []string{"0", "1", "17", "3:0", "3:2", "1099511627776:1"}
	for i, p := range places {
		got, err := json.Marshal(p)
		if err != nil || string(got) != written[i] || fmt.Sprint(p) != said[i] {
			t.Errorf("%v: written %s, %v", p, got, err)
		}
		back := Place{9, 9}
		if err := json.Unmarshal(got, &back); err != nil || back != p {
			t.Errorf("%s read as %v, %v", got, back, err)
		}
		for j, o := range places {
			if got := p.Compare(o); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%v and %v: %d", p, o, got)
			}
		}
		if n := p.Next(); n.Compare(p) != 1 || n.Part != p.Part || n.Record != p.Record+1 {
			t.Errorf("behind %v: %v", p, n)
		}
	}
	for _, bad := range []string{`"1"`, `[1`, `["a",2]`, `{}`} {
		if err := json.Unmarshal([]byte(bad), new(Place)); err == nil {
			t.Errorf("%s is a place", bad)
		}
	}
}
