package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

// peak keeps the maximum of the memory seen.
type peak struct {
	mu sync.Mutex
	m  memory
}

func (p *peak) note(m memory) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.m.Resident = max(p.m.Resident, m.Resident)
	p.m.Anonymous = max(p.m.Anonymous, m.Anonymous)
}

func (p *peak) most() memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m
}

// take returns the maximum since the last take.
func (p *peak) take() (m memory) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, p.m = p.m, memory{}
	return m
}

// watch samples the memory at intervals until stop is called.
func (p *peak) watch() (stop func()) {
	// Adding up the pages of gigabytes takes the kernel some milliseconds.
	const every = 2 * time.Second
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			p.note(readMemory())
			select {
			case <-tick.C:
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// startProfile starts a CPU profile, if a path is given.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}

// parseMemory reads sizes such as 512MiB and 1GiB.
func parseMemory(s string) (uint64, error) {
	for unit, shift := range map[string]int{"MiB": 20, "GiB": 30} {
		if n, err := strconv.ParseUint(strings.TrimSuffix(s, unit), 10, 16); err == nil && strings.HasSuffix(s, unit) {
			return n << shift, nil
		}
	}
	return 0, fmt.Errorf("memory %q: want something like 512MiB or 1GiB", s)
}
