import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One node of OpenSearch with the modules of its distribution that are used: FOLDER, PORT, PORT for nodes. */
class OpenSearchNode extends Node {
    OpenSearchNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
        super(environment, plugins, false);
    }

    public static void main(String[] given) throws Exception {
        Path home = Path.of(given[0]);
        Files.createDirectories(home.resolve("config"));
        Settings settings = Settings.builder()
            .put("path.home", home).put("path.data", home.resolve("data").toString())
            .put("cluster.name", "tests").put("node.name", "one").put("discovery.type", "single-node")
            .put("http.type", "netty4").put("http.host", "127.0.0.1").put("http.port", given[1])
            .put("transport.type", "netty4").put("transport.host", "127.0.0.1").put("transport.port", given[2])
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> "one");
        new OpenSearchNode(
            environment,
            List.of(Netty4Plugin.class, KNNPlugin.class, ReindexPlugin.class, MapperExtrasPlugin.class)
        ).start();
        new CountDownLatch(1).await();
    }
}
