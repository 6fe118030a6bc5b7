package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
)

// component is one of CycloneDX: a module, or the program.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// bill returns the bill of materials of a program in CycloneDX 1.5: the modules and the Go that
// its build information names. It has no time and no serial number, so it is the same each time.
func bill(version string, program io.ReaderAt) ([]byte, error) {
	info, err := buildinfo.Read(program)
	if err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	modules := []component{{"library", "std", info.GoVersion, "pkg:golang/std@" + info.GoVersion[len("go"):]}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
	}
	return json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": component{"application", "firstseen", version, "pkg:pypi/firstseen@" + version}},
		"components": modules,
	}, "", "  ")
}
