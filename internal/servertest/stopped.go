package servertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// stopped says whether all threads of a process have noticed that it is to stop, which takes them a
// moment. Where there is no /proc that moment is waited for.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		time.Sleep(100 * time.Millisecond)
		return true
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path) // pid (name) state ...
		name := bytes.LastIndexByte(stat, ')')
		if err != nil || name < 0 || name+2 >= len(stat) || stat[name+2] != 'T' {
			return false
		}
	}
	return true
}
