// The signatures of androidx.work that the kit uses, as App.kt.

@file:Suppress("UNUSED_PARAMETER")

package androidx.work

import android.content.Context
import java.util.concurrent.TimeUnit

class WorkerParameters

abstract class ListenableWorker(appContext: Context, params: WorkerParameters) {
  val applicationContext: Context = appContext

  open class Result {
    companion object {
      fun success(): Result = Success
      fun retry(): Result = Retry
    }

    object Success : Result()
    object Retry : Result()
  }
}

abstract class Worker(context: Context, workerParams: WorkerParameters) : ListenableWorker(context, workerParams) {
  abstract fun doWork(): Result
}

enum class NetworkType { CONNECTED }

enum class BackoffPolicy { EXPONENTIAL }

enum class ExistingWorkPolicy { REPLACE }

class Constraints {
  class Builder {
    fun setRequiredNetworkType(networkType: NetworkType): Builder = this
    fun build() = Constraints()
  }
}

abstract class WorkRequest

class OneTimeWorkRequest : WorkRequest() {
  class Builder(workerClass: Class<out ListenableWorker>) {
    fun setConstraints(constraints: Constraints): Builder = this
    fun setBackoffCriteria(backoffPolicy: BackoffPolicy, backoffDelay: Long, timeUnit: TimeUnit): Builder = this
    fun build() = OneTimeWorkRequest()
  }
}

abstract class WorkManager {
  abstract fun enqueueUniqueWork(name: String, policy: ExistingWorkPolicy, request: OneTimeWorkRequest)

  companion object {
    fun getInstance(context: Context): WorkManager = throw UnsupportedOperationException()
  }
}
