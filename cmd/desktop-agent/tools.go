package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"desktop-agent/run"
	"desktop-agent/tools"
)

// toolsCmd is about what can be called beside mouse and keyboard.
type toolsCmd struct {
	List toolsListCmd `cmd:"" help:"Start the servers, and say which tools there are, what each may do, and what does not work."`
	Call toolsCallCmd `cmd:"" help:"Call a tool by hand, to see what it answers. Nobody else is asked whether it may."`
}

// toolFlags say which tools there are.
type toolFlags struct {
	MCP      string   `name:"mcp" help:"File of MCP servers, as other MCP clients have it (\"mcpServers\")." placeholder:"FILE" group:"Tools"`
	Files    string   `help:"Folder whose files the tools may read and write." placeholder:"FOLDER" group:"Tools"`
	Programs []string `help:"Programs that may be run in that folder, by name; * for all but shells. None unless named." placeholder:"NAME" group:"Tools"`
}

// toolLimitFlags bound a call of a tool.
type toolLimitFlags struct {
	ToolLimit time.Duration `help:"Give a call of a tool up that is not answered in so long; while you are asked it does not count." default:"${tool_limit}" group:"Tools"`
	ToolText  int           `help:"Leave the middle out of what a tool answers above so many bytes." default:"${tool_text}" placeholder:"BYTES" group:"Tools"`
}

// limits are what the flags say.
func (f toolLimitFlags) limits() run.ToolLimits {
	return run.ToolLimits{Time: f.ToolLimit, Text: f.ToolText}
}

// check refuses limits with which no tool can answer.
func (f toolLimitFlags) check() error {
	if f.ToolLimit <= 0 || f.ToolText < 1 {
		return hintError{fmt.Errorf("a call of a tool may take %v, and answer %d bytes", f.ToolLimit, f.ToolText), "write for example --tool-limit 2m --tool-text 40000"}
	}
	return nil
}

// open starts the servers and registers all tools, of which each call has the limits. The
// servers are to be closed.
func (f toolFlags) open(ctx context.Context, limits run.ToolLimits, log *slog.Logger) (*tools.Registry, *tools.Servers, error) {
	r := &tools.Registry{Limits: limits}
	if f.Files != "" {
		if info, err := os.Stat(f.Files); err != nil || !info.IsDir() {
			return nil, nil, &usageError{hintError{fmt.Errorf("--files: %s is no folder", f.Files), "name a folder that is there, with --files"}}
		}
		files, err := tools.Files(f.Files)
		if err = errors.Join(err, r.Add(files...)); err != nil {
			return nil, nil, err
		}
	}
	if len(f.Programs) > 0 && f.Files == "" {
		return nil, nil, &usageError{hintError{errors.New("--programs needs a folder to run them in"), "add --files FOLDER"}}
	}
	programs, err := tools.Command(f.Files, f.Programs...)
	if err != nil {
		return nil, nil, &usageError{err}
	}
	if err := r.Add(programs...); err != nil {
		return nil, nil, err
	}
	servers, err := f.servers()
	if err != nil {
		return nil, nil, &usageError{hintError{err, "mend " + f.MCP + ", or leave out --mcp"}}
	}
	open := tools.Open(ctx, servers, log)
	if err := r.Add(open.Tools()...); err != nil {
		open.Close()
		return nil, nil, err
	}
	return r, open, nil
}

// servers reads the file of MCP servers.
func (f toolFlags) servers() (map[string]tools.Server, error) {
	if f.MCP == "" {
		return nil, nil
	}
	info, err := os.Stat(f.MCP)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", f.MCP)
	}
	file, err := os.Open(f.MCP)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return tools.ReadServers(file)
}

type toolsListCmd struct {
	toolFlags
	JSON bool `name:"json" help:"As JSON, with the schemas of the arguments."`
}

// listedTool is a tool in JSON.
type listedTool struct {
	Name        string          `json:"name"`
	Server      string          `json:"server,omitempty"`
	Effect      string          `json:"effect"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Run lists the tools, and fails if a server does not run.
func (t *toolsListCmd) Run(ctx context.Context, c console, g *cli) error {
	r, servers, err := t.open(ctx, run.ToolLimits{}, logger(c, g.Verbose))
	if err != nil {
		return err
	}
	defer servers.Close()
	list := r.Tools()
	if t.JSON {
		all := make([]listedTool, len(list))
		for i, one := range list {
			all[i] = listedTool{one.Name, one.Server, string(one.Effect), one.Description, one.Parameters.JSON}
		}
		if err := json.NewEncoder(jsonTo{c.Out}).Encode(all); err != nil {
			return err
		}
	} else {
		for _, one := range list {
			fmt.Fprintf(c.Out, "%-40s  %-15s  %s\n", one.Name, one.Effect, printable(firstLine(one.Description)))
		}
		if len(list) == 0 {
			fmt.Fprintln(c.Out, "There are no tools. Name a file of MCP servers with --mcp, or a folder with --files.")
		}
	}
	return tellServers(c, servers.Status())
}

// tellServers says what is wrong with servers, and fails if one does not run.
func tellServers(c console, list []tools.ServerStatus) error {
	failed := false
	for _, s := range list {
		switch {
		case s.Off:
			fmt.Fprintf(c.Err, "server %s: disabled in the file\n", s.Name)
		case s.Err != nil:
			failed = true
			fmt.Fprintf(c.Err, "server %s does not run: %s\n", s.Name, printable(oneLine(s.Err)))
		}
		for _, why := range s.Dropped {
			fmt.Fprintf(c.Err, "server %s: a tool cannot be called: %s\n", s.Name, printable(why))
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// firstLine is the first line of a description, at most 80 characters of it.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return line
}

type toolsCallCmd struct {
	toolFlags
	toolLimitFlags
	Name      string `arg:"" help:"Name of the tool, as tools list has it."`
	Arguments string `arg:"" optional:"" default:"{}" help:"Its arguments, as a JSON object."`
}

// Run calls the tool and prints what it answers. That the tool says it failed is the
// exit code of a task that is not done.
func (t *toolsCallCmd) Run(ctx context.Context, c console, g *cli) error {
	if err := t.check(); err != nil {
		return &usageError{err}
	}
	r, servers, err := t.open(ctx, t.limits(), logger(c, g.Verbose))
	if err != nil {
		return err
	}
	defer servers.Close()
	if err := r.Check(t.Name, json.RawMessage(t.Arguments)); err != nil {
		_ = tellServers(c, servers.Status())
		return &usageError{hintError{err, "see which there are, with their schemas: desktop-agent tools list --json"}}
	}
	result, err := r.Call(ctx, t.Name, json.RawMessage(t.Arguments))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out, terminalText(result.Text))
	if result.Failed {
		return errNotDone
	}
	return nil
}

// terminalText is a text of many lines as a terminal may be given it.
func terminalText(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// tools tells which servers run, and how many tools there are.
func (p *checkup) tools(ctx context.Context) (string, error) {
	if p.MCP == "" && p.Files == "" {
		return "none are asked for", errNotChecked
	}
	r, servers, err := p.toolFlags.open(ctx, run.ToolLimits{}, p.log)
	if err != nil {
		return "", err
	}
	defer servers.Close()
	var broken, running []string
	for _, s := range servers.Status() {
		switch {
		case s.Err != nil:
			broken = append(broken, fmt.Sprintf("server %s: %s", s.Name, oneLine(s.Err)))
		case !s.Off:
			running = append(running, fmt.Sprintf("%s (%s, %d tools)", s.Name, s.About, s.Tools))
		}
	}
	if len(broken) > 0 {
		return "", hintError{errors.New(strings.Join(broken, "; ")), "see what it says: desktop-agent tools list --mcp " + p.MCP}
	}
	found := fmt.Sprintf("%d", len(r.Tools()))
	if len(running) > 0 {
		found += ", of servers " + strings.Join(running, ", ")
	}
	return found, nil
}
