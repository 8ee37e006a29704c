// Reads every list with pages to its end, through a client of openapi-generator.
//
// Arguments: the address of the server, the token of an operator, and the folder of the client's classes. Prints the number of
// items of each operation as JSON. Wants the names of parameters in the classes (`javac -parameters`).

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openapitools.client.ApiClient;

public class ReadLists {
    /** The session whose takes are read. */
    static final int SESSION = 1;

    static final String APIS = "org.openapitools.client.api";

    static ObjectMapper mapper;

    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(arguments[0]);
        client.setRequestInterceptor(request -> request.header("X-Admin-Token", arguments[1]));
        mapper = client.getObjectMapper();
        Map<String, Integer> counts = new TreeMap<>();
        for (String file : new File(arguments[2], APIS.replace('.', '/')).list()) {
            // Where there is a page too, the client reads HTML.
            if (!file.endsWith("Api.class") || file.equals("PagesApi.class")) {
                continue;
            }
            Class<?> type = Class.forName(APIS + "." + file.replace(".class", ""));
            Object api = type.getConstructor(ApiClient.class).newInstance(client);
            for (Method operation : type.getDeclaredMethods()) {
                if (isList(operation)) {
                    counts.put(operation.getName(), read(api, operation));
                }
            }
        }
        System.out.println(mapper.writeValueAsString(counts));
    }

    /** Whether this is a read that has pages, and takes no headers of its own. */
    static boolean isList(Method operation) {
        String name = operation.getName();
        List<String> parameters = new ArrayList<>();
        for (Parameter parameter : operation.getParameters()) {
            parameters.add(parameter.getName());
        }
        return name.startsWith("get")
                && !name.endsWith("WithHttpInfo")
                && parameters.contains("limit")
                && !parameters.contains("headers");
    }

    /** The number of items of a list, a hundred a page. */
    static int read(Object api, Method operation) throws Exception {
        Parameter[] parameters = operation.getParameters();
        Object[] arguments = new Object[parameters.length];
        int count = 0;
        int position = -1;
        for (int nth = 0; nth < parameters.length; nth++) {
            switch (parameters[nth].getName()) {
                case "limit" -> arguments[nth] = 100;
                case "id" -> arguments[nth] = SESSION;
                case "before", "after" -> position = nth;
            }
        }
        while (true) {
            JsonNode page = mapper.valueToTree(operation.invoke(api, arguments));
            count += items(page);
            JsonNode following = next(page);
            if (following == null) {
                return count;
            }
            arguments[position] = mapper.treeToValue(following, parameters[position].getType());
        }
    }

    /** Where the next page begins; null if there is none. */
    static JsonNode next(JsonNode page) {
        for (String name : new String[] {"nextBefore", "nextAfter"}) {
            if (page.hasNonNull(name)) {
                return page.get(name);
            }
        }
        return page.path("more").asBoolean() ? page.get("next") : null;
    }

    /** The number of items in the list of a page. Of webhooks and their deliveries, those of the deliveries. */
    static int items(JsonNode page) {
        if (page.has("deliveries")) {
            return page.get("deliveries").size();
        }
        for (JsonNode value : page) {
            if (value.isArray()) {
                return value.size();
            }
        }
        throw new IllegalStateException("no list in " + page);
    }
}
