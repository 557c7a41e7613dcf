// The kit as an Android library: docs/android.md shows how an app includes it. Gradle and the Android SDK have not run
// this file yet: deploy/dev/kit-android compiles and tests the same sources without them, and checks the names here.

import org.jetbrains.kotlin.gradle.dsl.JvmTarget
import org.jetbrains.kotlin.gradle.tasks.KotlinCompile

// The plugins' versions are the app's, or those of settings.gradle.kts.
plugins {
  id("com.android.library")
  id("maven-publish")
}

// From version 9 on, Android's plugin compiles Kotlin, unless the app turns that off, and refuses a second plugin
// with this extension (https://developer.android.com/build/migrate-to-built-in-kotlin).
if (extensions.findByName("kotlin") == null) apply(plugin = "org.jetbrains.kotlin.android")

// Both are in gradle.properties.
group = property("kit.group") as String
version = property("kit.version") as String

android {
  // Of the resources, of which there are none. Android refuses a name without a dot.
  namespace = "checkoutkit.android"
  compileSdk = 34

  defaultConfig {
    minSdk = 21
    aarMetadata { minCompileSdk = 21 }
  }

  sourceSets.getByName("main") {
    manifest.srcFile("AndroidManifest.xml")
    kotlin.srcDirs("src", "src-coroutines", "src-work")
  }

  compileOptions {
    sourceCompatibility = JavaVersion.VERSION_1_8
    targetCompatibility = JavaVersion.VERSION_1_8
  }

  publishing { singleVariant("release") { withSourcesJar() } }
}

tasks.withType<KotlinCompile>().configureEach { compilerOptions.jvmTarget.set(JvmTarget.JVM_1_8) }

// For the optional parts. An app that uses one has its library; in an app without it nothing refers to that part.
dependencies {
  compileOnly("org.jetbrains.kotlinx:kotlinx-coroutines-core:1.7.3")
  compileOnly("androidx.work:work-runtime:2.9.1")
}

// `gradle publishToMavenLocal`, or `gradle publish -Pkit.repository=URL`, with -Pkit.user and -Pkit.password if needed.
publishing {
  publications.register<MavenPublication>("release") {
    artifactId = "checkout-kit"
    afterEvaluate { from(components["release"]) }
    pom {
      name.set("CheckoutKit")
      description.set("The app's side of a web checkout")
      licenses {
        license { name.set("Apache-2.0") }
      }
    }
  }
  repositories {
    findProperty("kit.repository")?.let { repository ->
      maven(repository) {
        val user = findProperty("kit.user") as String?
        if (user != null) {
          credentials {
            username = user
            password = findProperty("kit.password") as String?
          }
        }
      }
    }
  }
}
