// Package agent drives a desktop to finish a task.
package agent
