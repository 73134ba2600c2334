package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
)

// Defaults of the flags.
const (
	defaultWindow  = time.Hour
	defaultBackend = "memory:"
	defaultPrefix  = "abusefilter-profile"

	defaultServeSpeed  = 60 // an hour of edits in a minute
	minSpeed, maxSpeed = 0.001, 1e9

	windowSteps = 6 // windows that -window is divided into
)

// options are the command line.
type options struct {
	in        string
	rules     string
	backend   string
	prefix    string
	keyspace  string
	format    string
	window    time.Duration
	every     time.Duration
	at        time.Time
	top       int
	strict    bool
	noProfile bool
	serve     string
	speed     float64
}

// parseOptions reads the arguments. Help goes to stdout, with flag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := o.flags()
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			usage(flags, stdout)
		}
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; the input is given with -in", flags.Arg(0))
	}
	paced := false
	flags.Visit(func(f *flag.Flag) { paced = paced || f.Name == "speed" })
	if o.serve != "" && !paced {
		o.speed = defaultServeSpeed
	}
	return o, o.check()
}

func (o *options) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.in, "in", "", "`FILE` of edits, gzipped or not; \"-\" is standard input (default: an embedded stream)")
	flags.StringVar(&o.rules, "rules", "", "`FILE` of rules, JSON or YAML (default: an embedded set)")
	flags.StringVar(&o.backend, "backend", defaultBackend, "`URL` of the store that keeps the counters")
	flags.StringVar(&o.prefix, "prefix", defaultPrefix, "prefix of the counters; processes share what has the same prefix and keyspace")
	flags.StringVar(&o.keyspace, "keyspace", "", "keyspace of the counters, such as a wiki's name")
	flags.StringVar(&o.format, "format", formatTable, "how to print: table, json or csv")
	flags.DurationVar(&o.window, "window", defaultWindow, "how far back the profile goes; a sixth of it is the width of one window")
	flags.DurationVar(&o.every, "every", 0, "also print a profile each `DURATION` of edit time")
	flags.Func("at", "print the profile as of `TIME`, RFC 3339 or Unix seconds; later edits are left out (default: the newest edit)", o.setAt)
	flags.IntVar(&o.top, "top", 0, "print only the `N` slowest rules; 0 is all")
	flags.BoolVar(&o.strict, "strict", false, "stop at the first line that does not parse")
	flags.BoolVar(&o.noProfile, "no-profile", false, "evaluate the rules without profiling them")
	flags.StringVar(&o.serve, "serve", "", "show the profile live as pages at `ADDRESS`, such as 127.0.0.1:8080, until an interrupt")
	flags.Float64Var(&o.speed, "speed", 0, fmt.Sprintf("make edit time pass `N` times as fast as time does; 0 is as fast as can be (default with -serve: %d)", defaultServeSpeed))
	return flags
}

func usage(flags *flag.FlagSet, stdout io.Writer) {
	fmt.Fprintf(stdout, "Usage: %s [flags]\nReplays edits, evaluates rules on each of them and prints the rules' profile.\n\n", program)
	flags.SetOutput(stdout)
	flags.PrintDefaults()
}

func (o *options) setAt(s string) error {
	at, err := time.Parse(time.RFC3339, s)
	if seconds, intErr := strconv.ParseInt(s, 10, 64); intErr == nil {
		at, err = time.Unix(seconds, 0), nil
	}
	if err != nil {
		return fmt.Errorf("it is neither RFC 3339, such as 2024-03-01T13:00:00Z, nor Unix seconds")
	}
	var edit Edit
	err = edit.setTime(at)
	o.at = edit.at
	return err
}

func (o *options) check() error {
	switch {
	case o.window < windowSteps*wrstats.MinStep:
		return fmt.Errorf("-window %s: it must be %s or more", o.window, windowSteps*wrstats.MinStep)
	case o.window > wrstats.MaxRetention:
		return fmt.Errorf("-window %s: it must be %s or less", o.window, wrstats.MaxRetention)
	case o.every < 0:
		return fmt.Errorf("-every %s: it must not be negative", o.every)
	case o.top < 0:
		return fmt.Errorf("-top %d: it must not be negative", o.top)
	case printers[o.format] == nil:
		return fmt.Errorf("-format %s: it must be one of %s", o.format, strings.Join(formats, ", "))
	case o.speed != 0 && !(minSpeed <= o.speed && o.speed <= maxSpeed):
		return fmt.Errorf("-speed %v: it must be 0, or from %v to %v", o.speed, minSpeed, maxSpeed)
	case o.noProfile && o.serve != "":
		return fmt.Errorf("-no-profile makes no profile for -serve to show")
	case o.noProfile && (o.every > 0 || !o.at.IsZero()):
		return fmt.Errorf("-no-profile makes no profile for -every or -at to print")
	}
	return nil
}
