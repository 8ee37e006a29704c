// Reads every list with pages to its end, through a client of openapi-generator.
//
// Arguments: the address of the server and the token of an operator. Prints the number of items of each operation as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

// The session whose takes are read.
const session = int32(1)

func main() {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Args[1]}}
	configuration.AddDefaultHeader("X-Admin-Token", os.Args[2])
	client := reflect.ValueOf(openapi.NewAPIClient(configuration)).Elem()
	counts := map[string]int{}
	for field := 0; field < client.NumField(); field++ {
		name := client.Type().Field(field).Name
		// Where there is a page too, the client reads HTML.
		if strings.HasSuffix(name, "API") && name != "PagesAPI" {
			readLists(client.Field(field), counts)
		}
	}
	printed, _ := json.Marshal(counts)
	fmt.Println(string(printed))
}

// Reads the operations of an API that have pages.
func readLists(api reflect.Value, counts map[string]int) {
	for nth := 0; nth < api.NumMethod(); nth++ {
		name := api.Type().Method(nth).Name
		if !strings.HasPrefix(name, "Get") || strings.HasSuffix(name, "Execute") {
			continue
		}
		operation := api.Method(nth)
		if _, hasPages := operation.Type().Out(0).MethodByName("Limit"); hasPages {
			counts[name] = read(name, operation)
		}
	}
}

// The number of items of a list, a hundred a page.
func read(name string, operation reflect.Value) int {
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	if operation.Type().NumIn() == 2 {
		arguments = append(arguments, reflect.ValueOf(session))
	}
	count, following := 0, any(nil)
	for {
		request := operation.Call(arguments)[0]
		request = request.MethodByName("Limit").Call([]reflect.Value{reflect.ValueOf(int32(100))})[0]
		if following != nil {
			request = from(request, following)
		}
		answer := request.MethodByName("Execute").Call(nil)
		if err := answer[2].Interface(); err != nil {
			panic(fmt.Sprint(name, ": ", err))
		}
		text, err := json.Marshal(answer[0].Interface())
		if err != nil {
			panic(err)
		}
		page := map[string]any{}
		if err := json.Unmarshal(text, &page); err != nil {
			panic(err)
		}
		count += items(page)
		if following = next(page); following == nil {
			return count
		}
	}
}

// The request for the page that begins here.
func from(request reflect.Value, position any) reflect.Value {
	method := request.MethodByName("Before")
	if !method.IsValid() {
		method = request.MethodByName("After")
	}
	value := reflect.ValueOf(position)
	switch kind := method.Type().In(0); kind {
	case reflect.TypeOf(time.Time{}):
		moment, err := time.Parse(time.RFC3339, position.(string))
		if err != nil {
			panic(err)
		}
		value = reflect.ValueOf(moment)
	default:
		value = value.Convert(kind)
	}
	return method.Call([]reflect.Value{value})[0]
}

func next(page map[string]any) any {
	for _, name := range []string{"nextBefore", "nextAfter"} {
		if page[name] != nil {
			return page[name]
		}
	}
	if page["more"] == true {
		return page["next"]
	}
	return nil
}

// The number of items in the list of a page. Of webhooks and their deliveries, those of the deliveries.
func items(page map[string]any) int {
	if deliveries, has := page["deliveries"].([]any); has {
		return len(deliveries)
	}
	for _, value := range page {
		if list, is := value.([]any); is {
			return len(list)
		}
	}
	panic(fmt.Sprint("no list in ", page))
}
