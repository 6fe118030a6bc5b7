package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/feature"
)

// methodFlags are the flags that choose how texts are told to be alike.
type methodFlags struct{ name string }

func (m *methodFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&m.name, "method", feature.Methods()[0].Name, "how copies are told: "+methodNames()+"; see the manual, \"Methods\"")
}

// methodNames are the names of the methods, for people to read.
func methodNames() string {
	var names []string
	for _, m := range feature.Methods() {
		names = append(names, m.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// complete brings the method into a scheme that has the other settings.
func (m *methodFlags) complete(s *feature.Scheme) error {
	for i, info := range feature.Methods() {
		if info.Name == m.name || i == 0 && m.name == "" {
			s.Method = m.name
			return nil
		}
	}
	return fmt.Errorf("--method %q: want %s", m.name, methodNames())
}

// taskMethod checks the method and the flags that are not of every one.
func (f *settings) taskMethod(p *task) error {
	if err := f.method.complete(&p.scheme); err != nil {
		return err
	}
	if p.scheme.BySegments() {
		return nil
	}
	info := p.scheme.Info()
	for _, other := range []struct {
		given bool
		flag  string
	}{
		{p.scheme.Segments != 0, "--segments"},
		{p.scheme.MinWidth != 0, "--min-width"},
		{f.score != "text", "--score"},
		{f.mosaics != "keep", "--mosaics"},
		{f.threshold != 0 && info.Threshold == 0, "--threshold"},
		{f.filterOnly && !info.FilterOnly, "--filter-only"},
	} {
		if other.given {
			return fmt.Errorf("%s has no meaning with --method %s: leave it out", other.flag, info.Name)
		}
	}
	return nil
}
