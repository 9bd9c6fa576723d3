package desktopagent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// methodsUsed returns the files of the program, as it is built here, that use a method or a
// field of a type, by names such as "sandbox.Desktop.Open", whatever the value is called that
// has it. Types are those that the compiler has told, of the packages in which such a name
// stands alone; the compiler's cache has them once the program was built as this test was.
func methodsUsed(t *testing.T, names []string) map[string][]string {
	t.Helper()
	last, knows := map[string]bool{}, map[string]bool{} // packages that have such a type, or import one by others
	for _, name := range names {
		parts := strings.Split(name, ".")
		last[parts[2]], knows[module+parts[0]] = true, true
	}
	root, err := os.Getwd()
	require.NoError(t, err)
	compiled := map[string]string{}
	var those []built
	for _, p := range builtPackages(t) {
		compiled[p.ImportPath] = p.Export
		if knows[p.ImportPath] || slices.ContainsFunc(p.Imports, func(of string) bool { return knows[of] }) {
			knows[p.ImportPath] = true
			those = append(those, p)
		}
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(of string) (io.ReadCloser, error) { return os.Open(compiled[of]) })
	uses := map[string]map[string]bool{}
	for _, p := range those {
		var parsed []*ast.File
		named := false
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			parsed = append(parsed, file)
			named = bodiesNaming(file, last) || named
		}
		if !named {
			continue
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
		check := types.Config{Importer: imports, FakeImportC: true, Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); !ok || !e.Soft { // soft is an import that only the other bodies use
				t.Error(err)
			}
		}}
		_, _ = check.Check(p.ImportPath, files, parsed, info) // its first error was told
		for at, s := range info.Selections {
			if name := selected(s); slices.Contains(names, name) {
				file, err := filepath.Rel(root, files.Position(at.Pos()).Filename)
				require.NoError(t, err)
				if uses[name] == nil {
					uses[name] = map[string]bool{}
				}
				uses[name][filepath.ToSlash(file)] = true
			}
		}
	}
	sorted := map[string][]string{}
	for name, in := range uses {
		sorted[name] = slices.Sorted(maps.Keys(in))
	}
	return sorted
}

// bodiesNaming reports whether a file selects one of several names from what is no package. It
// leaves out the bodies of the functions that do not: who has such a body checked waits long.
func bodiesNaming(file *ast.File, names map[string]bool) (some bool) {
	others := map[string]bool{} // packages: none of ours, as values may be called like these
	for _, imp := range file.Imports {
		if of := strings.Trim(imp.Path.Value, `"`); imp.Name == nil && !strings.HasPrefix(of, module) {
			others[path.Base(of)] = true
		}
	}
	for _, d := range file.Decls {
		named := false
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && names[s.Sel.Name] {
				of, _ := s.X.(*ast.Ident)
				named = named || of == nil || !others[of.Name]
			}
			return !named
		})
		if f, ok := d.(*ast.FuncDecl); ok && !named && f.Type.TypeParams == nil {
			f.Body = nil
		}
		some = some || named
	}
	return some
}

// selected is the name of what is selected, after that of the type that declares it, or has
// the field, and its package.
func selected(s *types.Selection) string {
	of := s.Recv()
	if f, ok := s.Obj().(*types.Func); ok {
		of = f.Signature().Recv().Type()
	}
	if p, ok := types.Unalias(of).(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := types.Unalias(of).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return named.Obj().Pkg().Name() + "." + named.Obj().Name() + "." + s.Obj().Name()
}

// A built package is one as "go list -export" tells of it.
type built struct {
	ImportPath, Dir, Export    string
	GoFiles, CgoFiles, Imports []string
}

// builtPackages returns those of the program, and all that they import, built as this test was:
// each after what it imports.
func builtPackages(t *testing.T) (list []built) {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Imports"}, buildFlags(t)...)
	out, err := exec.Command("go", append(args, "./...")...).Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p built
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else {
			require.NoError(t, err)
		}
		list = append(list, p)
	}
}

// buildFlags are those that this test was built with, and GOFLAGS may say more: with the same
// ones the cache has the rest.
func buildFlags(t *testing.T) (flags []string) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	for _, s := range info.Settings {
		if slices.Contains([]string{"-race", "-tags", "-trimpath", "-cover"}, s.Key) {
			flags = append(flags, s.Key+"="+s.Value)
		}
	}
	return flags
}
