// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.content

import android.net.Uri
import java.io.File

abstract class Context {
  val noBackupFilesDir: File get() = throw UnsupportedOperationException()
  fun getSystemService(name: String): Any? = null

  companion object {
    const val JOB_SCHEDULER_SERVICE = "jobscheduler"
  }
}

class ActivityNotFoundException : RuntimeException()

class ComponentName(context: Context, type: Class<*>)

open class Intent() {
  constructor(context: Context, type: Class<*>) : this()

  var data: Uri? = null
  val flags: Int get() = 0
  val dataString: String? get() = null
  fun addFlags(flags: Int): Intent = this
  fun setPackage(packageName: String?): Intent = this

  companion object {
    const val FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY = 0x00100000
    const val FLAG_ACTIVITY_CLEAR_TOP = 0x04000000
    const val FLAG_ACTIVITY_SINGLE_TOP = 0x20000000
  }
}
