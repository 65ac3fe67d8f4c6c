import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.jena.assembler.Assembler;
import org.apache.jena.graph.Graph;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.query.Dataset;
import org.apache.jena.query.DatasetFactory;
import org.apache.jena.query.Query;
import org.apache.jena.query.QueryCancelledException;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.query.QueryExecutionFactory;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.query.QueryParseException;
import org.apache.jena.query.ReadWrite;
import org.apache.jena.query.ResultSetFormatter;
import org.apache.jena.rdf.model.Model;
import org.apache.jena.rdf.model.ModelFactory;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFDataMgr;
import org.apache.jena.riot.RiotException;
import org.apache.jena.sparql.core.DatasetDescription;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DynamicDatasets;
import org.apache.jena.sparql.core.assembler.AssemblerUtils;
import org.apache.jena.sys.JenaSystem;
import org.apache.jena.tdb2.DatabaseMgr;
import org.apache.jena.update.UpdateExecutionFactory;
import org.apache.jena.update.UpdateFactory;

/**
 * Jena behind Fuseki's paths, for tests: the engine and its datasets are Jena's own, only the HTTP is ours.
 *
 * <p>Arguments: the port, then NAME=FILE#RESOURCE of assemblers, or NAME=tdb2 or NAME=tdb2:FOLDER. Queries
 * run over the dataset that the request describes, as Fuseki has them: DynamicDatasets inside one read
 * transaction. There is no administration and no login, as in Fuseki Main.
 */
public final class JenaServer {
  private static final Map<String, DatasetGraph> DATASETS = new TreeMap<>();

  public static void main(String[] args) throws IOException {
    JenaSystem.init();
    for (int i = 1; i < args.length; i++) {
      String[] parts = args[i].split("=", 2);
      DATASETS.put(parts[0], opened(parts[1]));
    }
    InetAddress loopback = InetAddress.getLoopbackAddress();
    HttpServer server = HttpServer.create(new InetSocketAddress(loopback, Integer.parseInt(args[0])), 0);
    server.createContext("/", JenaServer::answer);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
  }

  private static DatasetGraph opened(String what) {
    if (what.equals("tdb2")) {
      return DatabaseMgr.createDatasetGraph();
    }
    if (what.startsWith("tdb2:")) {
      return DatabaseMgr.connectDatasetGraph(what.substring(5));
    }
    Model model = AssemblerUtils.readAssemblerFile(what.substring(0, what.lastIndexOf('#')));
    return ((Dataset) Assembler.general.open(model.createResource(what))).asDatasetGraph();
  }

  private static void answer(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    try {
      String[] path = exchange.getRequestURI().getPath().split("/");
      DatasetGraph data = path.length == 3 ? DATASETS.get(path[1]) : null;
      if (exchange.getRequestURI().getPath().equals("/$/ping")) {
        send(exchange, 200, "text/plain", "now\n".getBytes(StandardCharsets.UTF_8));
      } else if (data == null) {
        send(exchange, 404, "text/plain", "Not found".getBytes(StandardCharsets.UTF_8));
      } else if (path[2].equals("query")) {
        query(exchange, data, form(exchange, body));
      } else if (path[2].equals("update")) {
        write(data, () ->
            UpdateExecutionFactory.create(
                UpdateFactory.create(new String(body, StandardCharsets.UTF_8)), data).execute());
        send(exchange, 204, "text/plain", new byte[0]);
      } else {
        graphs(exchange, data, form(exchange, new byte[0]), body);
      }
    } catch (QueryParseException | RiotException error) {
      send(exchange, 400, "text/plain", String.valueOf(error.getMessage()).getBytes(StandardCharsets.UTF_8));
    } catch (QueryCancelledException error) {
      send(exchange, 503, "text/plain", "Query timed out".getBytes(StandardCharsets.UTF_8));
    } catch (RuntimeException | StackOverflowError error) {
      send(exchange, 500, "text/plain", String.valueOf(error.getMessage()).getBytes(StandardCharsets.UTF_8));
    }
  }

  private static void query(HttpExchange exchange, DatasetGraph data, Map<String, List<String>> form)
      throws IOException {
    Query query = QueryFactory.create(one(form, "query"));
    List<String> none = List.of();
    DatasetDescription described =
        new DatasetDescription(
            form.getOrDefault("default-graph-uri", none), form.getOrDefault("named-graph-uri", none));
    if (described.isEmpty() && query.hasDatasetDescription()) {
      described = DatasetDescription.create(query);
    }
    query.getGraphURIs().clear();
    query.getNamedGraphURIs().clear();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    String media = "application/sparql-results+json";
    data.begin(ReadWrite.READ);
    try {
      DatasetGraph seen =
          described.isEmpty() ? data : DynamicDatasets.dynamicDataset(described, data, false);
      try (QueryExecution run = QueryExecutionFactory.create(query, DatasetFactory.wrap(seen))) {
        if (one(form, "timeout") != null) {
          run.setTimeout(Long.parseLong(one(form, "timeout")), TimeUnit.SECONDS);
        }
        if (query.isSelectType()) {
          ResultSetFormatter.outputAsJSON(out, run.execSelect());
        } else if (query.isAskType()) {
          ResultSetFormatter.outputAsJSON(out, run.execAsk());
        } else {
          media = "application/n-triples";
          Model found = query.isConstructType() ? run.execConstruct() : run.execDescribe();
          RDFDataMgr.write(out, found, Lang.NTRIPLES);
        }
      }
    } finally {
      data.end();
    }
    send(exchange, 200, media, out.toByteArray());
  }

  private static void graphs(
      HttpExchange exchange, DatasetGraph data, Map<String, List<String>> form, byte[] body)
      throws IOException {
    Node name = form.containsKey("graph") ? NodeFactory.createURI(one(form, "graph")) : null;
    String method = exchange.getRequestMethod();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int status = 204;
    if (method.equals("GET")) {
      data.begin(ReadWrite.READ);
      try {
        if (name == null || data.containsGraph(name)) {
          Graph graph = name == null ? data.getDefaultGraph() : data.getGraph(name);
          RDFDataMgr.write(out, graph, Lang.NTRIPLES);
          status = 200;
        } else {
          status = 404;
        }
      } finally {
        data.end();
      }
    } else if (method.equals("DELETE")) {
      write(data, () -> {
        if (name == null) {
          data.getDefaultGraph().clear();
        } else {
          data.removeGraph(name);
        }
      });
    } else {
      String media = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
      Lang lang = media.startsWith("text/turtle") ? Lang.TURTLE : Lang.NTRIPLES;
      Graph read = ModelFactory.createDefaultModel().getGraph();
      RDFDataMgr.read(read, new ByteArrayInputStream(body), lang);
      write(data, () -> read.find().forEachRemaining(
          (one) -> (name == null ? data.getDefaultGraph() : data.getGraph(name)).add(one)));
      status = 200;
    }
    send(exchange, status, "application/n-triples", out.toByteArray());
  }

  private static void write(DatasetGraph data, Runnable work) {
    data.begin(ReadWrite.WRITE);
    try {
      work.run();
      data.commit();
    } finally {
      data.end();
    }
  }

  private static Map<String, List<String>> form(HttpExchange exchange, byte[] body) {
    Map<String, List<String>> found = new TreeMap<>();
    String address = exchange.getRequestURI().getRawQuery();
    String text = (address == null ? "" : address) + "&" + new String(body, StandardCharsets.UTF_8);
    for (String pair : text.split("&")) {
      if (!pair.isEmpty()) {
        String[] parts = pair.split("=", 2);
        String value = parts.length > 1 ? URLDecoder.decode(parts[1], StandardCharsets.UTF_8) : "";
        String name = URLDecoder.decode(parts[0], StandardCharsets.UTF_8);
        found.computeIfAbsent(name, (key) -> new ArrayList<>()).add(value);
      }
    }
    return found;
  }

  private static String one(Map<String, List<String>> form, String name) {
    return form.containsKey(name) ? form.get(name).get(0) : null;
  }

  private static void send(HttpExchange exchange, int status, String media, byte[] text) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", media);
    exchange.getResponseHeaders().set("Server", "Jena in tests");
    exchange.sendResponseHeaders(status, text.length == 0 ? -1 : text.length);
    if (text.length > 0) {
      exchange.getResponseBody().write(text);
    }
    exchange.close();
  }
}
