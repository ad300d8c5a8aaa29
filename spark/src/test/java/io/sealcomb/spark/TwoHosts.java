package io.sealcomb.spark;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskState;
import org.apache.spark.executor.Executor;
import org.apache.spark.executor.ExecutorBackend;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.ExternalClusterManager;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskDescription;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.WorkerOffer;
import org.apache.spark.status.api.v1.ThreadStackTrace;
import scala.Enumeration;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A cluster of two hosts, each with one processor, in the JVM of the tests.
 *
 * <p>Spark runs a speculative attempt only on another host, so that a local master never does. Both hosts are names of the
 * same executor.
 */
public final class TwoHosts implements ExternalClusterManager {
    static final String MASTER = "two-hosts";

    @Override
    public boolean canCreate(String master) {
        return master.equals(MASTER);
    }

    @Override
    public TaskScheduler createTaskScheduler(SparkContext context, String master) {
        return new TaskSchedulerImpl(context);
    }

    @Override
    public SchedulerBackend createSchedulerBackend(SparkContext context, String master, TaskScheduler scheduler) {
        return new Hosts((TaskSchedulerImpl) scheduler);
    }

    @Override
    public void initialize(TaskScheduler scheduler, SchedulerBackend backend) {
        ((TaskSchedulerImpl) scheduler).initialize(backend);
    }

    /** Offers a processor of each host, and runs tasks in the executor. */
    private static final class Hosts implements SchedulerBackend, ExecutorBackend {
        private final TaskSchedulerImpl scheduler;
        /** Processes messages one after another. */
        private final ExecutorService messages = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "two-hosts");
            thread.setDaemon(true);
            return thread;
        });

        /** The host that runs each task. */
        private final Map<Long, String> busy = new HashMap<>();

        private Executor executor;
        private String id;

        Hosts(TaskSchedulerImpl scheduler) {
            this.scheduler = scheduler;
            SchedulerBackend.$init$(this);
        }

        @Override
        public void start() {
            executor = new Executor(
                    "driver",
                    "a",
                    SparkEnv.get(),
                    CollectionConverters.asScala(List.<java.net.URL>of()).toList(),
                    true,
                    (thread, error) -> error.printStackTrace(),
                    Map$.MODULE$.empty());
        }

        @Override
        public void stop() {
            messages.shutdownNow();
            executor.stop();
        }

        @Override
        public void reviveOffers() {
            messages.execute(this::offer);
        }

        private void offer() {
            List<WorkerOffer> offers = new ArrayList<>();
            for (String host : List.of("a", "b")) {
                if (!busy.containsValue(host)) {
                    offers.add(WorkerOffer.apply(
                            host.equals("a") ? "driver" : host,
                            host,
                            1,
                            WorkerOffer.apply$default$4(),
                            WorkerOffer.apply$default$5(),
                            WorkerOffer.apply$default$6()));
                }
            }
            var assigned = CollectionConverters.asJava(scheduler.resourceOffers(
                    CollectionConverters.asScala(offers).toIndexedSeq(), true));
            for (int index = 0; index < assigned.size(); index++) {
                for (TaskDescription task : CollectionConverters.asJava(assigned.get(index))) {
                    busy.put(task.taskId(), task.executorId().equals("driver") ? "a" : "b");
                    executor.launchTask(this, task);
                }
            }
        }

        @Override
        public void statusUpdate(long task, Enumeration.Value state, ByteBuffer data) {
            messages.execute(() -> {
                scheduler.statusUpdate(task, state, data);
                if (TaskState.isFinished(state)) {
                    busy.remove(task);
                    offer();
                }
            });
        }

        @Override
        public void killTask(long task, String host, boolean interrupts, String reason) {
            executor.killTask(task, interrupts, reason);
        }

        @Override
        public int defaultParallelism() {
            return 2;
        }

        @Override
        public int maxNumConcurrentTasks(ResourceProfile profile) {
            return 2;
        }

        @Override
        public Option<ThreadStackTrace> getTaskThreadDump(long task, String host) {
            return Option.empty();
        }

        // The field of the trait.

        @Override
        public String org$apache$spark$scheduler$SchedulerBackend$$appId() {
            return id;
        }

        @Override
        public void
                org$apache$spark$scheduler$SchedulerBackend$_setter_$org$apache$spark$scheduler$SchedulerBackend$$appId_$eq(
                        String appId) {
            id = appId;
        }
    }
}
