# frozen_string_literal: true

# The tracker: Redmine loaded once, in a process that answers nobody and forks the ones that do.
#
#   redmine.rb serve SOCKET       reads "operator KEY", "start", "stop" from standard input, says "loaded",
#                                 "started PID", "stopped"
#   redmine.rb seed PLAN.json IDS.json    makes the database and everything that the plan says, by Redmine's own models
#
# The operator's key is of the account that grades and sets up: it stands in no database. Nothing of a company is known
# before it is told: what was loaded until then serves any.
REDMINE = '/task/service/redmine'
ENV['BUNDLE_GEMFILE'] = '/tmp/tracker/Gemfile'
ENV['RAILS_ENV'] = 'production'
$stdout.sync = true
require 'fileutils'
require 'json'
require_relative 'company_time'
FileUtils.mkdir_p '/tmp/tracker'
FileUtils.cp File.join(__dir__, 'Gemfile'), '/tmp/tracker/Gemfile'
Dir.chdir REDMINE
require "#{REDMINE}/config/environment"

# What every answering process has in common.
module Workplace
  class << self
    attr_accessor :operator
  end

  # The operator's key, beside everybody's own that the database holds.
  module Key
    def find_by_api_key(key)
      own = Workplace.operator.to_s
      mine = !own.empty? && ActiveSupport::SecurityUtils.secure_compare(key.to_s, own)
      mine ? User.find_by(login: 'operator') : super
    end
  end

  # The company's look, beside the themes of Redmine's own folder, which cannot be written.
  module Theme
    def scan_themes
      super << Redmine::Themes::Theme.new(File.join(__dir__, 'tracker_theme/company'))
    end
  end
  Redmine::Themes.singleton_class.prepend Theme

  # Forks on "start"; a process that ends without "stop" ends all, so that the loss is seen.
  class Host
    def initialize(socket)
      @socket = socket
      @child = nil
    end

    def run
      Rails.application.eager_load!
      ActiveRecord::Base.connection_handler.clear_all_connections!
      puts 'loaded'
      while (line = $stdin.gets)
        word, key = line.strip.split(' ', 2)
        case word
        when 'operator' then Workplace.operator = key
        when 'start' then start
        else stop
        end
      end
      stop
    end

    private

    def start
      heard, told = IO.pipe
      @child = fork { answer(heard, told) }
      told.close
      abort 'the tracker did not start' unless heard.gets
      heard.close
      watch @child
      puts "started #{@child}"
    end

    def answer(heard, told)
      Process.setsid
      heard.close
      $stdin.reopen File::NULL
      server = Puma::Server.new(Rails.application, Puma::Events.strings, min_threads: 1, max_threads: 4)
      server.add_unix_listener @socket
      running = server.run
      told.puts 'up'
      told.close
      running.join
      exit! 1
    end

    def watch(child)
      @watcher = Thread.new do
        Process.wait child
        exit! 1 if @child == child
      end
    end

    def stop
      child, @child = @child, nil
      if child
        begin
          Process.kill :KILL, -child
          @watcher.join
        rescue Errno::ESRCH
          nil # ended by itself, which its watcher says
        end
      end
      puts 'stopped'
    end
  end

  # A company put into an empty database.
  class Seed
    def initialize(plan)
      @plan = plan
      @users = {}
      @ids = { 'project' => {}, 'issue' => {}, 'version' => {}, 'person' => {} }
    end

    # The tracker's number of everything that the dialects name otherwise.
    attr_reader :ids

    def run
      ActiveRecord::Migration.verbose = false
      ActiveRecord::Base.connection.migration_context.migrate
      ActiveRecord::Base.descendants.each(&:reset_column_information)
      ActiveRecord::Base.transaction { fill }
    end

    private

    def fill
      Redmine::DefaultData::Loader.load 'en'
      ActionMailer::Base.perform_deliveries = false
      settings
      User.find_by(login: 'admin').update_columns(status: Principal::STATUS_LOCKED, hashed_password: 'x', admin: false)
      person 'id' => 'operator', 'name' => 'Workplace Operator', 'mail' => 'operator@workplace.invalid'
      @users['operator'].update_columns(admin: true, hashed_password: 'x')
      @plan['people'].each { |one| person one }
      role = Role.find_by(name: 'Developer')
      role.add_permission! :manage_issue_relations, :edit_own_issue_notes, :set_own_issues_private
      @plan['projects'].each { |one| project one, role }
      epoch
    end

    def settings
      values = { 'rest_api_enabled' => '1', 'login_required' => '1', 'self_registration' => '0', 'lost_password' => '0',
                 'notified_events' => [], 'text_formatting' => 'common_mark', 'app_title' => @plan['name'], 'ui_theme' => 'company',
                 'welcome_text' => @plan['about'], 'default_language' => 'en', 'gravatar_enabled' => '0',
                 'unsubscribe' => '0', 'default_projects_public' => '0', 'autofetch_changesets' => '1',
                 # Not today's, which is none of the company's days: what is due in its week would end before it begins.
                 'default_issue_start_date_to_creation_date' => '0' }
      values.each { |name, value| Setting[name] = value }
    end

    def person(one)
      first, _, last = one['name'].rpartition(' ')
      first, last = last, '-' if first.empty?
      user = User.new(firstname: first[0, 30], lastname: last[0, 255], mail: one['mail'], language: 'en',
                      mail_notification: 'none')
      user.login = one['id']
      user.admin = one['admin'] == true
      user.password = user.password_confirmation = one['password'] || SecureRandom.hex(32)
      user.save!
      user.pref.update! time_zone: 'UTC'
      @users[one['id']] = user
      @ids['person'][one['id']] = user.id
    end

    def project(one, role)
      made = Project.new(name: one['title'], description: one['about'], is_public: false)
      made.identifier = one['id']
      made.enabled_module_names = %w[issue_tracking time_tracking news documents files wiki repository calendar gantt]
      made.trackers = Tracker.all
      made.save!
      one['members'].each do |who|
        own = one['roles'][who]
        Member.create!(project: made, principal: @users[who], roles: [own ? Role.find_by!(name: own) : role])
      end
      made.reload
      @ids['project'][one['id']] = made.id
      versions = one['sprints'].to_h { |sprint| [sprint['name'], version(made, sprint)] }
      @ids['version'][one['id']] = versions.transform_values(&:id)
      @ids['issue'][one['id']] = one['issues'].map { |issue| issue made, issue, versions }
      pages made, one['pages']
      repository made, one['repository'] if one['repository']
    end

    def version(project, sprint)
      Version.create!(project: project, name: sprint['name'][0, 60], description: "From #{sprint['begins']}",
                      effective_date: sprint['ends'], status: sprint['closed'] ? 'closed' : 'open')
    end

    def issue(project, one, versions)
      User.current = @users[one['by']]
      status = IssueStatus.find_by!(name: one['status'])
      made = Issue.new(project: project, tracker: Tracker.find_by!(name: one['tracker']), author: @users[one['by']],
                       subject: one['subject'], description: one['text'], status: status,
                       priority: IssuePriority.find_by!(name: one['priority']), due_date: one['due'],
                       assigned_to: one['assigned'] && @users[one['assigned']], estimated_hours: one['estimate'])
      made.start_date = nil
      made.id = one['number'] if one['number'] && !Issue.exists?(one['number'])
      made.save!
      last = one['comments'].map { |note| note['at'] }.max || one['at']
      made.update_columns(created_on: one['at'], updated_on: last, fixed_version_id: versions[one['sprint']]&.id,
                          closed_on: status.is_closed ? last : nil)
      one['comments'].each { |note| comment made, note }
      made.id
    end

    def comment(issue, note)
      made = Journal.new(journalized: issue, user: @users[note['by']], notes: note['text'])
      made.notify = false
      made.save!
      made.update_columns(created_on: note['at'])
    end

    def pages(project, pages)
      return if pages.empty?

      wiki = project.wiki || Wiki.create!(project: project, start_page: 'Wiki')
      wiki.update! start_page: Wiki.titleize(pages.first['title'])
      pages.each do |one|
        page = WikiPage.new(wiki: wiki, title: one['title'])
        page.save_with_content(WikiContent.new(page: page, text: one['text'], author: @users['operator']))
        raise "no wiki page #{one['title']}: #{page.errors.full_messages}" unless page.persisted?
      end
    end

    def repository(project, path)
      made = Repository.factory('Git', project: project, is_default: true)
      made.url = path
      made.save!
    end

    # What says no other time bears the company's, so that one folder gives one database but for passwords.
    def epoch
      now = @plan['today']
      ActiveRecord::Base.connection.tables.each do |table|
        columns = ActiveRecord::Base.connection.columns(table).select { |one| one.type == :datetime }.map(&:name)
        columns &= %w[created_on updated_on passwd_changed_on]
        columns -= %w[created_on updated_on] if table == 'issues'
        columns -= %w[created_on] if table == 'journals'
        columns.each do |column|
          quoted = ActiveRecord::Base.connection.quote(now)
          ActiveRecord::Base.connection.execute(
            "UPDATE #{table} SET #{column} = datetime(#{quoted}) WHERE #{column} IS NOT NULL"
          )
        end
      end
    end
  end
end

case ARGV[0]
when 'serve'
  require 'puma'
  require 'puma/server'
  User.singleton_class.prepend Workplace::Key
  Workplace::Host.new(ARGV[1]).run
when 'seed'
  seed = Workplace::Seed.new(JSON.parse(File.read(ARGV[1], encoding: 'UTF-8')))
  seed.run
  File.write(ARGV[2], JSON.generate(seed.ids))
else
  abort 'redmine.rb serve SOCKET | seed PLAN.json IDS.json'
end
