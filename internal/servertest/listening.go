package servertest

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listens says whether the process itself listens at an address of TCP: somebody else may have taken the
// port, and answer there while the process is still about to find out. Where there is no /proc it is taken
// to be so.
func listens(pid int, addr string) bool {
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
	if err != nil {
		return true
	}
	inode := listener(table, addr)
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && inode != "" && to == "socket:["+inode+"]" {
			return true
		}
	}
	return false
}

// listener returns the inode of the socket that listens at a port of 127.0.0.1, from the kernel's table; ""
// where there is none.
func listener(table []byte, addr string) (inode string) {
	_, text, _ := net.SplitHostPort(addr)
	port, _ := strconv.Atoi(text)
	local := fmt.Sprintf("0100007F:%04X", port)
	const localAt, stateAt, inodeAt, listening = 1, 3, 9, "0A"
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > inodeAt && fields[localAt] == local && fields[stateAt] == listening {
			return fields[inodeAt]
		}
	}
	return ""
}
