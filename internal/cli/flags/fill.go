package flags

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// Prefix begins the environment variable of each flag: FIRSTSEEN_OUT_DIR for --out-dir.
const Prefix = "FIRSTSEEN_"

// Environment sets flags that are not set yet, from the environment. It returns the places of the
// flags it set, and the flags that are still free.
func Environment(fs *pflag.FlagSet) (places []string, free map[string]bool, err error) {
	var unset []*pflag.Flag
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Changed && f.Name != "help" {
			unset = append(unset, f)
		}
	})
	free = map[string]bool{}
	for _, f := range unset {
		name := Prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		text := os.Getenv(name)
		if free[f.Name] = text == ""; text == "" {
			continue
		}
		if err := fs.Set(f.Name, text); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, Explain(err))
		}
		places = append(places, name)
	}
	return places, free, nil
}

// configLine matches a flag's name and value: --memory=1GiB, memory 1GiB or memory = 1GiB.
var configLine = regexp.MustCompile(`^(?:--)?([^= \t]*)[ \t]*=?[ \t]*(.*)$`)

// configComment begins with the line or after white space, so a # can be part of a value.
var configComment = regexp.MustCompile(`(^|[ \t])#.*`)

// File sets free flags from a file with one flag a line, as on a command line. It returns their
// places. A flag that the set lacks is an error of other, or nil to skip it.
func File(fs *pflag.FlagSet, file io.Reader, path string, free map[string]bool, other func(name string) error) (places []string, err error) {
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(configComment.ReplaceAllString(strings.TrimPrefix(lines.Text(), "\ufeff"), ""))
		if line == "" {
			continue
		}
		place := fmt.Sprintf("%s:%d", path, n)
		parts := configLine.FindStringSubmatch(line)
		name, text := parts[1], parts[2]
		flag := fs.Lookup(name)
		switch {
		case flag == nil:
			if err := other(name); err != nil {
				return nil, fmt.Errorf("%s: %w", place, err)
			}
			continue
		case !free[name]:
			continue
		case text == "" && flag.NoOptDefVal == "":
			return nil, fmt.Errorf("%s: --%s needs a value, as in --%s=VALUE", place, name, name)
		case text == "":
			text = flag.NoOptDefVal
		}
		if err := fs.Set(name, text); err != nil {
			return nil, fmt.Errorf("%s: %w", place, Explain(err))
		}
		places = append(places, place)
	}
	return places, lines.Err()
}
