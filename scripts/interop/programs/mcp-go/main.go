// The server of the interop table on mcp-go (Go), which speaks the tasks of 2025-11-25. `stdio`, or a port for HTTP at /mcp.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("interop-mcp-go", "0.0.0",
		server.WithToolCapabilities(true),
		server.WithElicitation(),
		server.WithTaskCapabilities(true, true, true),
	)
	echo := mcp.NewTool("echo", mcp.WithDescription("Answers at once"), mcp.WithString("text", mcp.Required()))
	s.AddTool(echo, func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(request.GetString("text", "")), nil
	})
	crunch := mcp.NewTool("crunch",
		mcp.WithDescription("Works for a while"),
		mcp.WithTaskSupport(mcp.TaskSupportRequired),
		mcp.WithNumber("seconds", mcp.Required()),
	)
	s.AddTaskTool(crunch, func(_ context.Context, request mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
		// The context ends with the request that created the task, not with the task: it cannot be waited on.
		seconds := request.GetFloat("seconds", 1)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		text := mcp.NewTextContent(fmt.Sprintf("crunched %v", seconds))
		return &mcp.CreateTaskResult{Content: []mcp.Content{text}}, nil
	})
	deploy := mcp.NewTool("deploy",
		mcp.WithDescription("Asks first"),
		mcp.WithTaskSupport(mcp.TaskSupportRequired),
	)
	s.AddTaskTool(deploy, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
		answer, err := s.RequestElicitation(context.WithoutCancel(ctx), mcp.ElicitationRequest{Params: mcp.ElicitationParams{
			Message: "Deploy?",
			RequestedSchema: map[string]any{
				"type":       "object",
				"properties": map[string]any{"approve": map[string]any{"type": "boolean"}},
				"required":   []string{"approve"},
			},
		}})
		if err != nil {
			return nil, err
		}
		text := mcp.NewTextContent(fmt.Sprintf("answered %v %v", answer.Action, answer.Content))
		return &mcp.CreateTaskResult{Content: []mcp.Content{text}}, nil
	})

	port := "stdio"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	if port == "stdio" {
		if err := server.ServeStdio(s); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := server.NewStreamableHTTPServer(s).Start("127.0.0.1:" + port); err != nil {
		log.Fatal(err)
	}
}
