//go:build !unix

package main

import "context"

// These checks need X11. Where there is none, no display can be opened, and an
// earlier check has said so.

func scaleOf(string) (string, error)                            { return "", errEarlier }
func managerOf(string) (string, error)                          { return "", errEarlier }
func (p *checkup) clickAndType(context.Context) (string, error) { return "", errEarlier }
