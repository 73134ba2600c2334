package faults_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// tableEnv names the file that the table is written to.
const tableEnv = "WRSTATS_FAULTS_TABLE"

var (
	long = flag.Bool("long", false, "faults, loads and soaks at their full length")
	soak = flag.Duration("soak", 10*time.Minute, "how long a soak is, with -long")
)

// atOnce is how many scenarios run at the same time. They wait for timers and servers, most of the time.
const atOnce = "16"

func TestMain(m *testing.M) {
	if os.Getenv(processEnv) != "" {
		os.Exit(process())
	}
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", atOnce)
	}
	memory, goroutines := heap(), runtime.NumGoroutine()
	code := m.Run()
	if why := left(memory, goroutines); why != "" {
		fmt.Println(why)
		code = 1
	}
	printed := results.String()
	if testing.Verbose() || code != 0 {
		fmt.Print(printed)
	}
	if path := os.Getenv(tableEnv); path != "" {
		if err := os.WriteFile(path, []byte(printed), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// left says what all scenarios together leave behind; "": nothing.
func left(memory uint64, goroutines int) (why string) {
	const slack = 16 << 20 // the table, and what a runtime and go-redis keep
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		now, running := heap(), runtime.NumGoroutine()
		if now < memory+slack && running <= goroutines {
			return ""
		}
		why = fmt.Sprintf("what is left: %d MiB, %d before; %d goroutines, %d before", now>>20, memory>>20, running, goroutines)
	}
	stacks := make([]byte, 1<<20)
	return why + "\n" + string(stacks[:runtime.Stack(stacks, true)])
}

// choose returns what a scenario does in the short form, or in the long one.
func choose[T any](short, longer T) T {
	if *long {
		return longer
	}
	return short
}

// skipShort skips what needs servers where only a moment is given.
func skipShort(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
}
