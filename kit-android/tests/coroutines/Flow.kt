// The parts of kotlinx.coroutines.flow that the kit uses: Debian's coroutines 1.0.1 have no flows. They do the least.

package kotlinx.coroutines.flow

import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

interface Flow<out T> {
  suspend fun collect(collector: FlowCollector<T>)
}

interface FlowCollector<in T> {
  suspend fun emit(value: T)
}

interface ProducerScope<in E> {
  suspend fun send(element: E)
}

fun <T> channelFlow(block: suspend ProducerScope<T>.() -> Unit): Flow<T> = object : Flow<T> {
  override suspend fun collect(collector: FlowCollector<T>) = coroutineScope {
    val channel = Channel<T>()
    launch {
      val scope = object : ProducerScope<T> {
        override suspend fun send(element: T) = channel.send(element)
      }
      scope.block()
      channel.close()
    }
    for (value in channel) collector.emit(value)
  }
}
