package servertest

import (
	"flag"
	"strconv"
	"testing"
)

// Parallel is how many parallel tests Main runs at once.
const Parallel = 12

// Main runs the tests of a package, to be called by its TestMain. Of those that are parallel more run at
// once than there are processors, unless the command line says how many: they wait for servers, most of
// the time.
func Main(m *testing.M) {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if !told {
		_ = flag.Set("test.parallel", strconv.Itoa(Parallel))
	}
	m.Run()
}
