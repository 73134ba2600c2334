package wrstats_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCoreImportsNoModuleButOurs(t *testing.T) {
	const format = `{{with .Module}}{{.Path}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, "./wrstats", "./timewindow").CombinedOutput()
	require.NoError(t, err, "%s", out)
	modules := strings.Fields(string(out))
	require.NotEmpty(t, modules)
	for _, module := range modules {
		require.Equal(t, "github.com/wrstats/go-wrstats", module)
	}
}
